"""Units of measurement and currencies, as a table: what people write, and what it is worth in a base unit.

Base units: second, metre, gram, litre, square metre, metre per second, byte, joule, watt, degree Celsius, hertz,
volt, pascal, percent; a currency's own unit for money.
"""

from __future__ import annotations

from typing import NamedTuple


class Unit(NamedTuple):
    """A unit: ``base = value * factor + shift``. `system` tells units that convert exactly from those that do not.

    `other` is a second factor where the same word means two things, as a British and an American pint; 0 for none.
    """

    name: str
    dimension: str
    factor: float
    system: str = ""
    shift: float = 0.0
    other: float = 0.0


# dimension, system, name, factor or factor/other factor, what is written (with _ for a space); a row with + goes on.
_TABLE = """
duration  clock    nanosecond   1e-9      nanosecond nanoseconds ns
duration  clock    microsecond  1e-6      microsecond microseconds µs μs
duration  clock    millisecond  1e-3      millisecond milliseconds ms msec
duration  clock    second       1         seconds secs sec s sekunde sekunden segundos secondes
duration  clock    minute       60        minute minutes min mins minuten minutos
duration  clock    hour         3600      hour hours hr hrs h stunde stunden std heure heures hora horas
duration  clock    day          86400     day days tage tagen jour jours día días
duration  clock    week         604800    week weeks wk wks woche wochen semaine semaines semana semanas
duration  clock    fortnight    1209600   fortnight fortnights
duration  calendar month        2629800   month months mo mos monat monate monaten mois mes meses
duration  calendar year         31557600  year years yr yrs jahr jahre jahren ans année années año años
duration  calendar decade       315576000 decade decades
duration  calendar century      3155760000 century centuries
duration  calendar millennium   31557600000 millennium millennia
length    metric   nanometre    1e-9      nanometre nanometres nanometer nanometers nm
length    metric   micrometre   1e-6      micrometre micrometres micrometer micrometers micron microns µm μm
length    metric   millimetre   1e-3      millimetre millimetres millimeter millimeters mm millimetern
length    metric   centimetre   1e-2      centimetre centimetres centimeter centimeters cm zentimeter zentimetern
length    metric   metre        1         metre metres meter meters m metern
length    metric   kilometre    1000      kilometre kilometres kilometer kilometers km kms kilometern
length    imperial inch         0.0254    inch inches ″
length    imperial foot         0.3048    foot feet ft
length    imperial yard         0.9144    yard yards yd yds
length    imperial mile         1609.344  mile miles mi
length    nautical nautical_mile 1852     nautical_mile nautical_miles nmi
length    sky      light_year   9.4607e15 light_year light_years ly
length    sky      parsec       3.0857e16 parsec parsecs
length    sky      astronomical_unit 1.495979e11 astronomical_unit astronomical_units au
mass      metric   microgram    1e-6      microgram micrograms mcg µg μg
mass      metric   milligram    1e-3      milligram milligrams mg
mass      metric   gram         1         gram grams gramme grammes g gm gramm
mass      metric   kilogram     1000      kilogram kilograms kilo kilos kg kgs kilogramm
mass      metric   tonne        1e6       tonne tonnes metric_ton metric_tons t tonnen
mass      imperial ounce        28.349523 ounce ounces oz
mass      imperial pound        453.59237 pound pounds lb lbs
mass      imperial stone        6350.2932 stone
mass      imperial ton          907184.74/1e6 ton tons short_ton short_tons long_ton long_tons
volume    metric   millilitre   1e-3      millilitre millilitres milliliter milliliters ml cc cubic_centimetre
+ cubic_centimetres cubic_centimeter cubic_centimeters cm³ cm3
volume    metric   centilitre   1e-2      centilitre centilitres centiliter centiliters cl
volume    metric   decilitre    0.1       decilitre decilitres deciliter deciliters dl
volume    metric   litre        1         litre litres liter liters l
volume    metric   cubic_metre  1000      cubic_metre cubic_metres cubic_meter cubic_meters m³ m3
volume    metric   cubic_kilometre 1e12   cubic_kilometre cubic_kilometres cubic_kilometer cubic_kilometers km³ km3
volume    imperial teaspoon     0.00492892/0.005 teaspoon teaspoons tsp tsps
volume    imperial tablespoon   0.01478676/0.015 tablespoon tablespoons tbsp tbsps
volume    imperial fluid_ounce  0.02957353/0.02841306 fluid_ounce fluid_ounces fl_oz
volume    imperial cup          0.23658824/0.25 cup cups
volume    imperial pint         0.47317647/0.56826125 pint pints pt
volume    imperial quart        0.94635295/1.1365225 quart quarts qt
volume    imperial gallon       3.78541178/4.54609 gallon gallons gal us_gallon us_gallons imperial_gallon
+ imperial_gallons
volume    imperial cubic_foot   28.316847 cubic_foot cubic_feet cu_ft
volume    imperial barrel       158.98729 barrel barrels bbl
area      metric   square_metre 1         square_metre square_metres square_meter square_meters sq_m m² m2
area      metric   square_centimetre 1e-4 square_centimetre square_centimetres square_centimeter square_centimeters
+ cm² cm2
area      metric   square_kilometre 1e6   square_kilometre square_kilometres square_kilometer square_kilometers sq_km
+ km² km2
area      metric   hectare      1e4       hectare hectares ha
area      imperial square_inch  0.00064516 square_inch square_inches sq_in
area      imperial square_foot  0.09290304 square_foot square_feet sq_ft sqft
area      imperial square_yard  0.83612736 square_yard square_yards
area      imperial acre         4046.85642 acre acres
area      imperial square_mile  2589988.11 square_mile square_miles sq_mi
speed     metric   metre_per_second 1     m/s metres_per_second meters_per_second
speed     metric   kilometre_per_hour 0.27777778 km/h kph kmh km/hr kilometres_per_hour kilometers_per_hour
+ kilometres_an_hour kilometers_an_hour km_per_hour
speed     metric   kilometre_per_second 1000 km/s kilometres_per_second kilometers_per_second
speed     imperial mile_per_hour 0.44704  mph miles_per_hour miles_an_hour mi/h
speed     imperial foot_per_second 0.3048 ft/s feet_per_second
speed     nautical knot         0.51444444 knot knots kn kts
data      si       bit          0.125     bit bits
data      si       byte         1         byte bytes
data      si       kilobyte     1e3       kilobyte kilobytes kb
data      si       megabyte     1e6       megabyte megabytes mb
data      si       gigabyte     1e9       gigabyte gigabytes gb
data      si       terabyte     1e12      terabyte terabytes tb
data      si       petabyte     1e15      petabyte petabytes pb
data      binary   kibibyte     1024      kib kibibytes
data      binary   mebibyte     1048576   mib mebibytes
data      binary   gibibyte     1073741824 gib gibibytes
data_rate si       megabit_per_second 1e6 mbps mbit/s megabits_per_second
data_rate si       gigabit_per_second 1e9 gbps gbit/s gb/s gigabits_per_second
energy    metric   joule        1         joule joules j
energy    metric   kilojoule    1000      kilojoule kilojoules kj
energy    metric   megajoule    1e6       megajoule megajoules mj
energy    food     calorie      4184      calorie calories kcal cal kilocalorie kilocalories
energy    electric watt_hour    3600      watt_hour watt_hours wh
energy    electric kilowatt_hour 3.6e6    kilowatt_hour kilowatt_hours kwh
energy    electric megawatt_hour 3.6e9    megawatt_hour megawatt_hours mwh
energy    electric gigawatt_hour 3.6e12   gigawatt_hour gigawatt_hours gwh
energy    electric terawatt_hour 3.6e15   terawatt_hour terawatt_hours twh
power     metric   watt         1         watt watts w
power     metric   kilowatt     1000      kilowatt kilowatts kw
power     metric   megawatt     1e6       megawatt megawatts mw
power     metric   gigawatt     1e9       gigawatt gigawatts gw
power     metric   terawatt     1e12      terawatt terawatts tw
power     imperial horsepower   745.7     horsepower hp bhp
voltage   metric   volt         1         volt volts v
voltage   metric   kilovolt     1000      kilovolt kilovolts kv
current   metric   ampere       1         ampere amperes amp amps a
current   metric   milliampere  1e-3      milliampere milliamps ma
frequency metric   hertz        1         hertz hz
frequency metric   kilohertz    1e3       kilohertz khz
frequency metric   megahertz    1e6       megahertz mhz
frequency metric   gigahertz    1e9       gigahertz ghz
rotation  turns    per_minute   1         rpm revolutions_per_minute rotations_per_minute
pulse     beats    per_minute   1         bpm beats_per_minute
amount    metric   mole         1         mole moles mol
amount    metric   millimole    1e-3      millimole millimoles mmol
force     metric   newton       1         newton newtons
force     metric   kilonewton   1000      kilonewton kilonewtons
share     parts    per_million  1         ppm parts_per_million
share     parts    per_billion  1e-3      ppb parts_per_billion
pressure  metric   pascal       1         pascal pascals pa
pressure  metric   hectopascal  100       hectopascal hectopascals hpa millibar millibars mbar
pressure  metric   kilopascal   1000      kilopascal kilopascals kpa
pressure  metric   bar          1e5       bar bars
pressure  medical  mmhg         133.322   mmhg mm_hg millimetres_of_mercury millimeters_of_mercury torr
pressure  metric   megapascal   1e6       megapascal megapascals mpa
pressure  metric   atmosphere   101325    atmosphere atmospheres atm
pressure  imperial psi          6894.757  psi pounds_per_square_inch
sound     metric   decibel      1         decibel decibels db
percent   percent  percent      1         % percent per_cent pct prozent
percent   percent  permille     0.1       ‰
percentage_point percent percentage_point 1 percentage_point percentage_points
percentage_point percent basis_point 0.01 basis_point basis_points bps bp
money:USD dollar   dollar       1         dollar dollars bucks $
money:USD USD      us_dollar    1         usd us_dollar us_dollars american_dollars
money:USD dollar   cent         0.01      cent cents ¢
money:EUR EUR      euro         1         euro euros eur €
money:EUR EUR      euro_cent    0.01      euro_cent euro_cents eurocent eurocents
money:GBP GBP      pound_sterling 1       gbp pounds_sterling british_pounds sterling quid £
money:GBP GBP      penny        0.01      pence p
money:JPY JPY      yen          1         yen jpy ¥
money:INR INR      rupee        1         rupee rupees inr rs ₹
money:CNY CNY      yuan         1         yuan renminbi rmb cny
money:RUB RUB      rouble       1         rouble roubles ruble rubles rub
money:CHF CHF      franc        1         chf francs swiss_francs
money:KRW KRW      won          1         krw
money:CAD CAD      canadian_dollar 1      cad canadian_dollar canadian_dollars
money:AUD AUD      australian_dollar 1    aud australian_dollar australian_dollars
money:NZD NZD      new_zealand_dollar 1   nzd new_zealand_dollars
money:HKD HKD      hong_kong_dollar 1     hkd hong_kong_dollars
money:SGD SGD      singapore_dollar 1     sgd singapore_dollars
money:PLN PLN      zloty        1         pln zloty zlotys zł
money:CZK CZK      koruna       1         czk korunas
money:DKK DKK      danish_krone 1         dkk danish_kroner
money:TRY TRY      lira         1         turkish_lira
money:ZAR ZAR      rand         1         zar rand
money:SEK SEK      krona        1         sek kronor krona
money:NOK NOK      krone        1         nok kroner
money:BRL BRL      real         1         brl reais
money:MXN MXN      peso         1         mxn pesos peso
"""


def _read_table() -> dict[str, Unit]:
    units: dict[str, Unit] = {}
    for row in _TABLE.strip().replace("\n+", "").splitlines():
        dimension, system, name, factors, *written = row.split()
        factor, _, other = factors.partition("/")
        unit = Unit(name, dimension, float(factor), system, other=float(other or 0.0))
        for form in written:
            units[form.replace("_", " ")] = unit
    celsius = Unit("celsius", "temperature", 1.0, "celsius")
    fahrenheit = Unit("fahrenheit", "temperature", 5 / 9, "fahrenheit", -160 / 9)
    kelvin = Unit("kelvin", "temperature", 1.0, "kelvin", -273.15)
    degree = Unit("degree", "temperature", 1.0, "degree")
    for letter, word, unit in (("c", "celsius", celsius), ("f", "fahrenheit", fahrenheit), ("k", "kelvin", kelvin)):
        for sign in ("°", "° ", "degrees ", "degree ", "deg ", "º", "º "):
            units[sign + letter] = unit
            units[sign + word] = unit
        units[word] = unit
    units["degrees centigrade"] = units["centigrade"] = celsius
    for form in ("°", "º", "degree", "degrees", "deg"):
        units[form] = degree
    return units


UNITS: dict[str, Unit] = _read_table()
"""Unit by what is written, in lower case, words joined by one space."""

CURRENCY_SIGNS: dict[str, str] = {
    "$": "USD", "us$": "USD", "€": "EUR", "£": "GBP", "¥": "JPY", "₹": "INR", "₩": "KRW", "₽": "RUB", "a$": "AUD",
    "au$": "AUD", "c$": "CAD", "ca$": "CAD", "hk$": "HKD", "nz$": "NZD", "s$": "SGD", "r$": "BRL", "usd": "USD",
    "eur": "EUR", "gbp": "GBP", "jpy": "JPY", "inr": "INR", "cny": "CNY", "rmb": "CNY", "chf": "CHF", "aud": "AUD",
    "cad": "CAD", "rs": "INR", "sek": "SEK", "nok": "NOK", "dkk": "DKK", "pln": "PLN", "czk": "CZK", "brl": "BRL",
    "mxn": "MXN", "zar": "ZAR", "krw": "KRW", "rub": "RUB", "hkd": "HKD", "sgd": "SGD", "nzd": "NZD",
}  # fmt: skip


DOLLARS = frozenset(f"money:{code}" for code in ("USD", "CAD", "AUD", "NZD", "HKD", "SGD"))
"""Dimensions that a bare "$" may mean."""


def is_unit_word(word: str) -> bool:
    """Say whether a lower-case word by itself is a unit, such as "km" or "minutes"."""
    return word in UNITS
