"""Score one answer offline, from Python: which claims do the passages support, and where?

Run it with ``python examples/quickstart.py``. It needs no key and no network.
"""

import everyclaim as ec

result = ec.score(
    question="How do I descale my Classica, and how long does it take?",
    response=(
        "Dissolve one sachet of descaler in a litre of lukewarm water. "
        "On the Classica the programme takes 45 minutes. "
        "Rinse with two full tanks of fresh water afterwards."
    ),
    passages=[
        {
            "id": "descaling",
            "text": (
                "Dissolve one sachet of Ottavela Descaler in 1 litre of lukewarm water and pour it into the tank. "
                "The programme takes 25 minutes on the Piccola, 35 on the Classica and 50 on the Doppia. "
                "Rinse with two full tanks of fresh water."
            ),
        },
        {"id": "filter", "text": "Replace the water filter every 2 months. It slows limescale down."},
    ],
)

print(f"{result.outcome}, score {result.score}")
for claim in result.claims:
    verdict = claim.verdict
    print(f"\n{verdict.label}: {claim.text}")
    for evidence in verdict.evidence:
        print(f"    {evidence.passage_id}: “{evidence.quote}”")
