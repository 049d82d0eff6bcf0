#!/usr/bin/env bash
# Train the judge's network on short windows behind everything else: one core, resumable, nothing in the repository.
#   DATA=folder of the data, WORK=folder outside the repository, MINILM=folder of the public encoder
set -euo pipefail
cd "$(dirname "$0")/.."
export PYTHONPATH=src:training:. OMP_NUM_THREADS=1
python=${PYTHON:-.venv/bin/python}
mkdir -p "$WORK"

make_once() { [ -s "$1" ] || { local out=$1; shift; "$@" --out "$out.part" && mv "$out.part" "$out"; }; }
windows() { make_once "$WORK/$1.npz" "$python" training/encoder/windows.py "${@:2}" --model "$MINILM"; }

make_once "$WORK/lessons.jsonl" "$python" -m training.lessons
make_once "$WORK/synth.jsonl" "$python" -m training.synthesis --data "$DATA"
make_once "$WORK/grammar.jsonl" "$python" -m training.grammar --data "$DATA"
make_once "$WORK/answers.jsonl" "$python" training/answers/rows.py --data "$DATA"
windows claims "$DATA"/claims/{train,written,logic,binding,rewordings}.jsonl.xz training/data/{binding,rewordings}.jsonl.xz
for part in lessons synth grammar answers; do windows $part "$WORK/$part.jsonl"; done
[ -s "$WORK/shipped.pt" ] ||
  "$python" training/encoder/widen.py src/everyclaim/models/data/reader.onnx --model "$MINILM" --out "$WORK/shipped.pt"
start=$WORK/shipped.pt
for stage in windows1 windows2; do
  nice -n 19 "$python" training/encoder/train.py training/encoder/$stage.toml --resume --start "$start" \
    --files "$WORK"/{claims,lessons,synth,grammar,answers}.npz --out "$WORK/$stage.pt" >>"$WORK/$stage.log"
  start=$WORK/$stage.pt
done
