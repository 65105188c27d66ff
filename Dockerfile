# The demo: train an agent for two minutes, compare it with the heuristic, write a report.
#
#     docker build -t four-seasons .
#     docker run -v "$PWD/runs:/runs" four-seasons    # the report is in runs/demo
#
# With --build-arg PIP_EXTRA_INDEX_URL=INDEX, an index of CPU builds of torch, the image is smaller.
FROM python:3.12-slim
WORKDIR /source
COPY constraints.txt LICENSE CITATION.cff README.md pyproject.toml ./
COPY agents agents
COPY docs/results docs/results
COPY experiments experiments
COPY four_seasons_env four_seasons_env
ARG PIP_EXTRA_INDEX_URL
RUN pip install --no-cache-dir --constraint constraints.txt '.[experiments,play,train]'
WORKDIR /
CMD ["four-seasons", "demo", "--out", "/runs/demo"]
