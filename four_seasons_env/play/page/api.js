// Requests to the server. It alone knows the rules; the page shows what it answers.

/** An answer that is an error, with the server's words. */
export class Refused extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

async function request(path, options) {
  let answer;
  try {
    answer = await fetch(path, options);
  } catch {
    throw new Refused(0, "The server does not answer. Is it still running?");
  }
  const body = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new Refused(answer.status, body.error ?? `The server says ${answer.status}.`);
  return body;
}

export const get = (path) => request(`/api/${path}`);

export const post = (path, body = {}) =>
  request(`/api/${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
