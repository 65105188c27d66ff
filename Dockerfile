# The demo: train an agent for two minutes, compare it with the heuristic, write a report.
#
#     docker build -t four-seasons .
#     docker run -v "$PWD/runs:/runs" four-seasons    # the report is in runs/demo
FROM python:3.12-slim
WORKDIR /source
COPY constraints.txt LICENSE CITATION.cff README.md pyproject.toml ./
COPY agents agents
COPY docs/results docs/results
COPY experiments experiments
COPY four_seasons_env four_seasons_env
RUN pip install --no-cache-dir --constraint constraints.txt \
    --extra-index-url https://download.pytorch.org/whl/cpu '.[experiments,play,train]'
WORKDIR /
CMD ["four-seasons", "demo", "--out", "/runs/demo"]
