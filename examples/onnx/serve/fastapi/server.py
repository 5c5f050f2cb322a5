"""The server of examples/onnx/serve in Python: FastAPI, torchvision on PIL images, onnxruntime, the same model file.

    python -m venv DIR && DIR/bin/pip install -r requirements.txt
    DIR/bin/python server.py --model FOLDER [--port 8081] [--batch 4]

Images are prepared by as many threads as there are processors. Those that are ready when the net is free share its
next run, --batch at most, as in the Go server. With --batch 1 every image has a run of its own.
"""

import argparse
import asyncio
import io
import os
import pathlib
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager

import numpy
import onnxruntime
import torch
import uvicorn
from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse
from PIL import Image
from torchvision import transforms

STEPS = transforms.Compose([
    transforms.Resize(256, transforms.InterpolationMode.BICUBIC),
    transforms.CenterCrop(224),
    transforms.ToTensor(),
    transforms.Normalize([127 / 255] * 3, [128 / 255] * 3),
])


def prepare(data):
    return STEPS(Image.open(io.BytesIO(data)).convert("RGB")).numpy()


class Batcher:
    def __init__(self, session, size):
        self.session, self.size = session, size
        self.ready = asyncio.Queue(maxsize=64)
        self.workers = ThreadPoolExecutor(os.cpu_count())
        self.net = ThreadPoolExecutor(1)

    async def classify(self, data):
        loop = asyncio.get_running_loop()
        row = await loop.run_in_executor(self.workers, prepare, data)
        result = loop.create_future()
        await self.ready.put((row, result))
        return await result

    async def run(self):
        loop = asyncio.get_running_loop()
        while True:
            batch = [await self.ready.get()]
            while len(batch) < self.size and not self.ready.empty():
                batch.append(self.ready.get_nowait())
            rows = numpy.stack([row for row, _ in batch])
            logits, = await loop.run_in_executor(self.net, self.session.run, None, {"image": rows})
            for (_, result), row in zip(batch, logits):
                if not result.cancelled():
                    result.set_result((row, len(batch)))


def application(folder, size, threads):
    names = (folder / "classes.txt").read_text().splitlines()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")  # as the Go server
    session = onnxruntime.InferenceSession(folder / "efficientnet-lite0.onnx", options, providers=["CPUExecutionProvider"])

    @asynccontextmanager
    async def lifespan(app):
        app.state.batcher = Batcher(session, size)
        task = asyncio.create_task(app.state.batcher.run())
        yield
        task.cancel()

    app = FastAPI(lifespan=lifespan)

    @app.get("/healthz")
    async def healthz():
        return "ok"

    @app.post("/classify")
    async def classify(request: Request):
        data = await request.body()
        try:
            logits, shared = await app.state.batcher.classify(data)
        except (OSError, ValueError, Image.DecompressionBombError) as e:
            return JSONResponse({"error": str(e)}, 422)
        p = numpy.exp(logits - logits.max())
        p /= p.sum()
        top = numpy.argsort(-logits)[:5]
        return {"classes": [{"index": int(i), "name": names[i], "probability": float(p[i])} for i in top], "batch": shared}

    return app


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Names what is on images that it gets by POST /classify.")
    parser.add_argument("--model", type=pathlib.Path, required=True, help="folder that examples/onnx/install filled")
    parser.add_argument("--port", type=int, default=8081)
    parser.add_argument("--batch", type=int, default=4, help="images that the net sees at once, at most")
    parser.add_argument("--threads", type=int, default=0, help="threads of the net; 0 is onnxruntime's default")
    args = parser.parse_args()
    torch.set_num_threads(1)  # threads prepare images; more within each would only compete
    uvicorn.run(application(args.model, args.batch, args.threads), host="127.0.0.1", port=args.port, log_level="warning", access_log=False)
