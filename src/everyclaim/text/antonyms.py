"""Words that mean the opposite of each other in factual text.

A compact table written for this project: on each row, every word left of the bar is an opposite of every word right
of it. Rows are about what claims get wrong: direction, order, role, place, permission, state, size.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from everyclaim.text.tokens import stem

_TABLE = """
increase rise grow gain climb soar surge raise | decrease fall decline drop shrink reduce plunge plummet dwindle cut
expand enlarge widen broaden | contract shrink narrow
accelerate speed hasten | decelerate slow delay
up upward upwards | down downward downwards
above over | below under beneath underneath
before prior preceding previously earlier | after following subsequently afterwards later
early | late
first initial initially | last final finally
begin start commence launch open | end finish stop cease conclude close terminate halt
continue resume persist | stop cease discontinue interrupt suspend
north northern northward | south southern southward
east eastern eastward | west western westward
northeast northeastern | southwest southwestern
northwest northwestern | southeast southeastern
left | right
top upper uppermost | bottom lower lowermost
front forward ahead | back rear backward behind
inside inner interior internal indoor indoors within | outside outer exterior external outdoor outdoors
near close nearby | far distant remote
horizontal horizontally | vertical vertically
clockwise | counterclockwise anticlockwise
inland | coastal offshore
buy purchase acquire | sell
buyer purchaser customer | seller vendor
import importer | export exporter
lend lender | borrow borrower
give donate | take receive
donor giver | recipient receiver
send sender | receive receiver
employer | employee
teacher instructor tutor | student pupil
doctor physician | patient
landlord lessor | tenant lessee
creditor | debtor
host | guest
parent mother father | child son daughter
mother | father
son | daughter
brother | sister
husband | wife
uncle | aunt
nephew | niece
king | queen
prince | princess
actor | actress
male man boy gentleman | female woman girl lady
men | women
he him his | she her
predator | prey
ancestor predecessor forebear | descendant successor
master | servant slave
leader | follower
attacker aggressor | defender victim
attack invade assault | defend retreat
plaintiff | defendant
prosecution prosecutor | defense defence
guilty convicted | innocent acquitted
convict | acquit
arrest detain imprison jail | release free
win defeat beat triumph | lose
winner victor | loser
victory win triumph | defeat loss
success succeed | failure fail
pass | fail
profit gain surplus | loss deficit
profitable | unprofitable
income revenue earnings | expense expenditure spending
earn | spend
save | spend waste
asset | liability
credit | debit
bull bullish | bear bearish
rich wealthy affluent | poor impoverished
wealth prosperity | poverty
cheap inexpensive affordable | expensive costly pricey
free | paid
cause trigger provoke | prevent avert
cause | cure
allow permit enable let authorize authorise | prohibit forbid ban prevent disallow bar
permitted allowed permissible | prohibited forbidden banned
legal lawful legitimate | illegal unlawful illicit illegitimate
legalize legalise | criminalize criminalise outlaw
require mandatory compulsory obligatory required | optional voluntary
include contain comprise inclusion | exclude omit exclusion
including | excluding except
accept approve | reject refuse deny decline
acceptance approval | rejection refusal denial
agree agreement consent | disagree disagreement dissent
confirm affirm verify | deny refute disprove
prove | disprove
support back endorse favor favour | oppose resist
supporter advocate proponent | opponent critic
ally friend | enemy foe rival
friendly | hostile unfriendly
love like | hate dislike
praise commend applaud | criticize criticise condemn blame
encourage promote | discourage deter
recommend | discourage
help aid assist | hinder impede hamper
improve better enhance strengthen | worsen worse deteriorate weaken
improvement | deterioration
best | worst
good | bad poor
benefit advantage beneficial advantageous | harm disadvantage harmful detrimental disadvantageous drawback
positive positively | negative negatively
optimistic optimism | pessimistic pessimism
create build construct produce | destroy demolish dismantle
construction | destruction demolition
found establish form | abolish dissolve disband
add addition | remove subtract subtraction removal
attach connect join link | detach disconnect separate
combine merge unite | separate split divide
merger | split
assemble | disassemble
insert | remove extract
install | uninstall remove
fill full | empty drain
load | unload
pack | unpack
lock | unlock
open | closed shut
fasten | unfasten loosen
tighten tight | loosen loose
cover covered | uncover uncovered
hide conceal hidden | reveal show expose visible
visible | invisible
appear emerge arrive | disappear vanish
arrive arrival | depart leave departure
enter entrance entry | exit leave
immigrate immigrant immigration | emigrate emigrant emigration
ascend ascent | descend descent
lift | lower
push | pull
throw | catch
inhale | exhale
absorb | emit release
inflate inflation | deflate deflation
heat warm | cool chill
hot warm warmer hotter | cold cool colder cooler
boil | freeze
melt thaw | freeze solidify
evaporate evaporation | condense condensation
wet moist humid damp | dry arid
solid | liquid
liquid | gas
acid acidic | alkaline basic
dissolve | precipitate
raw | cooked
fresh | stale rotten
sweet | bitter sour
soft | hard
smooth | rough
light | heavy dark
bright | dark dim
day daytime | night nighttime
morning | evening
dawn sunrise | dusk sunset
noon | midnight
summer | winter
spring | autumn fall
am | pm
black | white
big large huge great major | small little tiny minor
bigger larger greater | smaller
biggest largest | smallest
tall high | short low
taller higher | shorter lower
tallest highest | shortest lowest
high highly | low
long lengthy | short brief
longer | shorter
longest | shortest
lengthen extend | shorten
wide broad | narrow
thick | thin
deep | shallow
fat | thin
heavier | lighter
fast quick rapid quickly rapidly | slow slowly
faster quicker | slower
fastest | slowest
strong powerful | weak
stronger | weaker
old elderly aged | young
older eldest | younger youngest
oldest | newest youngest
old ancient | new modern recent
new | used old
modern | traditional ancient
past former | future
current present | former past
temporary temporarily | permanent permanently
mortal | immortal
alive living live | dead deceased
live survive | die perish
birth born | death died
healthy well | sick ill unhealthy
health | disease illness
cure treat | infect
safe safety safely | dangerous unsafe danger hazardous
secure | insecure vulnerable
calm peaceful | violent turbulent
peace peacetime | war wartime
war | ceasefire peace
clean | dirty polluted contaminated
pure | impure contaminated
natural | artificial synthetic
organic | inorganic
real genuine authentic | fake false counterfeit
true correct accurate right | false incorrect inaccurate wrong untrue
truth fact | lie myth fiction
fiction fictional | nonfiction
certain sure definite | uncertain unsure
known | unknown
famous | obscure unknown
common frequent usual | rare uncommon infrequent unusual
commonly frequently often usually always | rarely seldom never
always | never
sometimes | never always
everything all | nothing none
everyone everybody all | nobody none
everywhere | nowhere
some any | none
many numerous | few
more | less fewer
most majority | least minority
maximum maximize maximal maximise | minimum minimize minimal minimise
plus | minus
even | odd
single | multiple married
same identical equal equivalent | different distinct unequal
similar alike similarity | different dissimilar difference
equality | inequality
whole entire complete total fully completely | partial partly partially incomplete
complete completed finished | incomplete unfinished
perfect | imperfect
abundant plentiful abundance | scarce scarcity
excess surplus | shortage deficit lack
presence present | absence absent
exist | nonexistent
available | unavailable
active activate | inactive passive deactivate dormant
enable enabled | disable disabled
on | off
with | without
pro | against anti
toward towards | away
public publicly | private privately
national domestic | international foreign
domestic | wild foreign
local | global
urban city | rural countryside
civilian | military
army | navy
land terrestrial | sea marine aquatic
saltwater | freshwater
upstream | downstream
ground | air
sky | earth
continental | oceanic
federal | state
central | peripheral
capitalist capitalism | communist communism socialist socialism
democratic democracy | authoritarian dictatorship autocratic
democrat | republican
liberal | conservative
left-wing | right-wing
monarchy | republic
majority | minority
government | opposition
incumbent | challenger
voluntary voluntarily | forced involuntary
independent independence | dependent dependence
freedom liberty | slavery captivity
hero | villain
protagonist | antagonist
simple easy simply easily | complex complicated difficult hard
easier simpler | harder
possible able | impossible unable
likely probable | unlikely improbable
direct directly | indirect indirectly
explicit explicitly | implicit implicitly
formal | informal
official officially | unofficial unofficially
intentional deliberate intentionally deliberately | accidental unintentional accidentally unintentionally
conscious | unconscious
awake wake | asleep sleep
aware | unaware
remember | forget
learn | forget
ask question | answer
teach | learn
read | write
speak talk | listen
hear | deaf
literate literacy | illiterate illiteracy
smart intelligent clever | stupid
wise | foolish
brave courageous | cowardly afraid
happy glad joyful | sad unhappy
laugh | cry
kind gentle | cruel harsh
honest | dishonest
loyal | disloyal
polite | rude
patient | impatient
generous | selfish greedy
humble modest | arrogant proud
beautiful | ugly
interesting | boring
important significant | unimportant insignificant trivial
necessary essential | unnecessary
useful effective | useless ineffective
efficient | inefficient
effective | ineffective
appropriate suitable | inappropriate unsuitable
valid | invalid
reliable | unreliable
stable steady | unstable volatile
constant fixed | variable changing
rigid | flexible
static | dynamic
regular | irregular
normal | abnormal
ordinary | extraordinary
major | minor
primary main | secondary
senior | junior
superior | inferior
upper | lower
singular | plural
active | retired
hire employ recruit appoint | fire dismiss sack
promote | demote
employed employment | unemployed unemployment
resign retire quit | join
join | leave quit
stay remain keep retain | leave lose
gain | lose
find discover | lose
keep | discard
store save | delete discard
upload | download
input | output
hardware | software
online | offline
analog analogue | digital
manual manually | automatic automatically automated
wired | wireless
encrypt | decrypt
compress | decompress
publish | withdraw
deposit | withdraw withdrawal
invest | divest
supply | demand
wholesale | retail
import | export
producer manufacturer | consumer
production | consumption
cause | effect
question | answer
problem | solution
theory theoretical | practice practical
qualitative | quantitative
objective | subjective
abstract | concrete
literal literally | figurative
acute | chronic
benign | malignant
contagious infectious | noncontagious
systolic | diastolic
artery arterial | vein venous
dominant | recessive
vertebrate | invertebrate
herbivore herbivorous | carnivore carnivorous
diurnal | nocturnal
warm-blooded | cold-blooded
symptomatic | asymptomatic
vaccinated | unvaccinated
fertile | infertile barren
deciduous | evergreen
annual | perennial
electron | proton
positive | negative
anode | cathode
reactant | product
attract | repel
approach | retreat
advance | retreat
advanced | elementary primitive
victory | defeat
hit | miss
offense offence offensive | defense defence defensive
home | away
amateur | professional
vegan vegetarian | meat
lunch | dinner
interior | exterior
eligible | ineligible
refundable | nonrefundable
tax-free exempt | taxable
renew extend | cancel expire
subscribe | unsubscribe cancel
confirm | cancel
valid | expired
paid | unpaid
overpaid | underpaid
overestimate | underestimate
overweight | underweight
flourish thrive | wither decline
ease relax loosen | tighten
relieve alleviate | aggravate exacerbate
inhibit suppress block | stimulate activate promote
upgrade | downgrade
overrule overturn reverse | uphold
repeal revoke | enact
ratify | reject
"""

# Forms that stemming does not bring back to their word.
_IRREGULAR = """
rise rose risen | fall fell fallen | grow grew grown | shrink shrank shrunk | begin began begun | buy bought
sell sold | lend lent | give gave given | take took taken | send sent | win won | lose lost | beat beaten
build built | make made | come came | go went gone | leave left | arise arose | speak spoke spoken | find found
forget forgot forgotten | keep kept | hide hid hidden | freeze froze frozen | forbid forbade forbidden | teach taught
write wrote written | hear heard | wake woke woken | sleep slept | quit | throw threw thrown | catch caught
let | cut | spend spent | withdraw withdrew withdrawn | uphold upheld | die died dead | overturn | lie lay
show shown | hit | set | read | drop dropped | stop stopped | ban banned | permit permitted
"""


@cache
def _opposites() -> dict[str, frozenset[str]]:
    forms: dict[str, list[str]] = {}
    for group in _IRREGULAR.replace("\n", "|").split("|"):
        words = group.split()
        if words:
            forms[words[0]] = words
    gathered: dict[str, set[str]] = {}
    for row in _TABLE.strip().splitlines():
        left, right = (_stems(side.split(), forms) for side in row.split("|"))
        for mine, theirs in ((left, right), (right, left)):
            for word in mine:
                gathered.setdefault(word, set()).update(theirs)
    return {word: frozenset(others - {word}) for word, others in gathered.items()}


def _stems(words: list[str], forms: dict[str, list[str]]) -> set[str]:
    return {stem(form) for word in words for form in forms.get(word, [word])}


def antonyms(norm: str) -> frozenset[str]:
    """Give the stems of the words that mean the opposite of a token's `norm`, in any of its forms.

    Compare them with ``stem(other.norm)``. Empty for a word the table does not hold.
    """
    table = _opposites()
    return table.get(stem(norm)) or table.get(norm) or frozenset()


def pairs() -> Iterator[tuple[str, str]]:
    """Give every pair of opposite stems, each once, in order."""
    for word, others in sorted(_opposites().items()):
        yield from ((word, other) for other in sorted(others) if word < other)
