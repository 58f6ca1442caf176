# gradstep with PyTorch on the CPU:
#   docker build -t gradstep . && docker run --rm -it -v "$PWD:/work" gradstep check train.py
# Untested: there was no Docker where it was written.
FROM python:3.11-slim
COPY . /gradstep
RUN pip install --no-cache-dir torch --index-url https://download.pytorch.org/whl/cpu \
 && pip install --no-cache-dir '/gradstep[png,pdf,plot]' \
 && apt-get update && apt-get install -y --no-install-recommends fonts-dejavu-core \
 && rm -rf /var/lib/apt/lists/* /gradstep
WORKDIR /work
ENTRYPOINT ["gradstep"]
