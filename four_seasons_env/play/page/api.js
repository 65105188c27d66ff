// Requests to the server. It alone knows the rules; the page shows what it answers.

/** An answer that is an error, with the server's words. */
export class Refused extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

const API = new URL("../api/", import.meta.url); // a proxy may serve the page under any path

async function request(path, options) {
  let answer;
  try {
    answer = await fetch(new URL(path, API), options);
  } catch {
    throw new Refused(0, "The server does not answer. Is it still running?");
  }
  const body = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new Refused(answer.status, body.error ?? `The server says ${answer.status}.`);
  return body;
}

export const get = (path) => request(path);

export const post = (path, body = {}) =>
  request(path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
