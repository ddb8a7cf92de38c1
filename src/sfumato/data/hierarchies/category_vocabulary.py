# SPDX-License-Identifier: MIT
"""Word lists only: values that columns often hold, in named groups, for proposed hierarchies.

An entry ends at "|" or at the end of its line. Case, accents and everything but letters and digits are ignored, so that
"United-States" and "united states" are one country. A topic has one or two levels of groups, the finer one inside.
"""

from __future__ import annotations

from collections.abc import Mapping

Groups = Mapping[str, Mapping[str, str]]
"""A wide group → its narrow groups → their values."""

COUNTRIES: Groups = {
    "Europe": {
        "Northern Europe": """
            Denmark|DK|DNK|Estonia|EE|EST|Finland|FI|FIN|Iceland|IS|ISL|Ireland|IE|IRL|Latvia|LV|LVA|Lithuania|LT|LTU
            Norway|NO|NOR|Sweden|SE|SWE|United Kingdom|GB|UK|GBR|Great Britain|England|Scotland|Wales
            Northern Ireland|Faroe Islands|Greenland""",
        "Western Europe": """
            Austria|AT|AUT|Belgium|BE|BEL|France|FR|FRA|Germany|DE|DEU|Deutschland|Liechtenstein|LI|LIE
            Luxembourg|LU|LUX|Monaco|MC|MCO|Netherlands|NL|NLD|Holland|Holand-Netherlands|Switzerland|CH|CHE
            Oesterreich|Österreich|Schweiz|Frankreich|Suisse|Allemagne""",
        "Southern Europe": """
            Albania|AL|ALB|Andorra|AD|AND|Bosnia and Herzegovina|BA|BIH|Croatia|HR|HRV|Cyprus|CY|CYP|Greece|GR|GRC
            Italy|IT|ITA|Italia|Italien|Kosovo|XK|Malta|MT|MLT|Montenegro|ME|MNE|North Macedonia|MK|MKD
            Macedonia|Portugal|PT|PRT|San Marino|SM|SMR|Serbia|RS|SRB|Slovenia|SI|SVN|Spain|ES|ESP|España|Spanien
            Vatican City|Yugoslavia""",
        "Eastern Europe": """
            Belarus|BY|BLR|Bulgaria|BG|BGR|Czechia|CZ|CZE|Czech Republic|Czechoslovakia|Hungary|HU|HUN|Moldova|MD|MDA
            Poland|PL|POL|Polen|Romania|RO|ROU|Russia|RU|RUS|Russian Federation|USSR|Slovakia|SK|SVK|Ukraine|UA|UKR""",
    },
    "America": {
        "North America": """
            Canada|CA|CAN|United States|US|USA|United States of America|Bermuda
            Outlying-US(Guam-USVI-etc)""",
        "Central America and the Caribbean": """
            Antigua and Barbuda|Bahamas|BS|BHS|Barbados|BB|BRB|Belize|BZ|BLZ|Costa Rica|CR|CRI|Cuba|CU|CUB|Dominica
            Dominican Republic|Dominican-Republic|DO|DOM|El Salvador|SV|SLV|Grenada|Guatemala|GT|GTM|Haiti|HT|HTI
            Honduras|HN|HND|Jamaica|JM|JAM|Mexico|MX|MEX|México|Nicaragua|NI|NIC|Panama|PA|PAN|Puerto Rico|PR|PRI
            Saint Lucia|Trinidad and Tobago|Trinadad&Tobago|TT|TTO""",
        "South America": """
            Argentina|AR|ARG|Bolivia|BO|BOL|Brazil|BR|BRA|Brasil|Chile|CL|CHL|Colombia|CO|COL|Columbia|Ecuador|EC|ECU
            French Guiana|Guyana|GY|GUY|Paraguay|PY|PRY|Peru|PE|PER|Suriname|SR|SUR|Uruguay|UY|URY
            Venezuela|VE|VEN""",
    },
    "Asia": {
        "Western Asia": """
            Armenia|AM|ARM|Azerbaijan|AZ|AZE|Bahrain|BH|BHR|Georgia|GE|GEO|Iraq|IQ|IRQ|Israel|IL|ISR|Jordan|JO|JOR
            Kuwait|KW|KWT|Lebanon|LB|LBN|Oman|OM|OMN|Palestine|PS|PSE|Qatar|QA|QAT|Saudi Arabia|SA|SAU|Syria|SY|SYR
            Turkey|TR|TUR|Türkiye|United Arab Emirates|AE|ARE|UAE|Yemen|YE|YEM""",
        "Central and Southern Asia": """
            Afghanistan|AF|AFG|Bangladesh|BD|BGD|Bhutan|BT|BTN|India|IN|IND|Iran|IR|IRN|Kazakhstan|KZ|KAZ|Kyrgyzstan
            KG|KGZ|Maldives|MV|MDV|Nepal|NP|NPL|Pakistan|PK|PAK|Sri Lanka|LK|LKA|Tajikistan|TJ|TJK|Turkmenistan|TM
            TKM|Uzbekistan|UZ|UZB""",
        "Eastern Asia": """
            China|CN|CHN|Hong Kong|Hong|HK|HKG|Japan|JP|JPN|Macao|MO|MAC|Mongolia|MN|MNG|North Korea|KP|PRK|South Korea
            KR|KOR|Korea|Taiwan|TW|TWN""",
        "South-eastern Asia": """
            Brunei|BN|BRN|Cambodia|KH|KHM|East Timor|Indonesia|ID|IDN|Laos|LA|LAO|Malaysia|MY|MYS|Myanmar|MM|MMR|Burma
            Philippines|PH|PHL|Singapore|SG|SGP|Thailand|TH|THA|Timor-Leste|TL|TLS|Vietnam|VN|VNM|Viet Nam""",
    },
    "Africa": {
        "Northern Africa": "Algeria|DZ|DZA|Egypt|EG|EGY|Libya|LY|LBY|Morocco|MA|MAR|Sudan|SD|SDN|Tunisia|TN|TUN",
        "Western Africa": """
            Benin|BJ|BEN|Burkina Faso|BF|BFA|Cape Verde|CV|CPV|Gambia|GM|GMB|Ghana|GH|GHA|Guinea|GN|GIN|Guinea-Bissau
            Ivory Coast|CI|CIV|Liberia|LR|LBR|Mali|ML|MLI|Mauritania|MR|MRT|Niger|NE|NER|Nigeria|NG|NGA|Senegal|SN|SEN
            Sierra Leone|SL|SLE|Togo|TG|TGO""",
        "Middle and Eastern Africa": """
            Angola|AO|AGO|Burundi|BI|BDI|Cameroon|CM|CMR|Central African Republic|Chad|TD|TCD|Comoros|Congo|CG|COG|CD
            COD|Djibouti|DJ|DJI|Equatorial Guinea|Eritrea|ER|ERI|Ethiopia|ET|ETH|Gabon|GA|GAB|Kenya|KE|KEN|Madagascar
            MG|MDG|Malawi|MW|MWI|Mauritius|MU|MUS|Mozambique|MZ|MOZ|Rwanda|RW|RWA|Seychelles|Somalia|SO|SOM
            South Sudan|Tanzania|TZ|TZA|Uganda|UG|UGA|Zambia|ZM|ZMB|Zimbabwe|ZW|ZWE""",
        "Southern Africa": "Botswana|BW|BWA|Eswatini|Lesotho|LS|LSO|Namibia|NA|NAM|South Africa|ZA|ZAF|Swaziland",
    },
    "Oceania": {
        "Oceania": """
            Australia|AU|AUS|Fiji|FJ|FJI|Kiribati|New Zealand|NZ|NZL|Papua New Guinea|PG|PNG|Samoa|Tonga|Vanuatu""",
    },
}

US_STATES: Groups = {
    "Northeast": {
        "New England": """
            Connecticut|CT|Maine|ME|Massachusetts|MA|New Hampshire|NH|Rhode Island|RI|Vermont|VT""",
        "Middle Atlantic": "New Jersey|NJ|New York|NY|Pennsylvania|PA",
    },
    "Midwest": {
        "East North Central": "Illinois|IL|Indiana|IN|Michigan|MI|Ohio|OH|Wisconsin|WI",
        "West North Central": """
            Iowa|IA|Kansas|KS|Minnesota|MN|Missouri|MO|Nebraska|NE|North Dakota|ND|South Dakota|SD""",
    },
    "South": {
        "South Atlantic": """
            Delaware|DE|District of Columbia|DC|Florida|FL|Georgia|GA|Maryland|MD|North Carolina|NC|South Carolina|SC
            Virginia|VA|West Virginia|WV""",
        "East South Central": "Alabama|AL|Kentucky|KY|Mississippi|MS|Tennessee|TN",
        "West South Central": "Arkansas|AR|Louisiana|LA|Oklahoma|OK|Texas|TX",
    },
    "West": {
        "Mountain": """
            Arizona|AZ|Colorado|CO|Idaho|ID|Montana|MT|Nevada|NV|New Mexico|NM|Utah|UT|Wyoming|WY""",
        "Pacific": "Alaska|AK|California|CA|Hawaii|HI|Oregon|OR|Washington|WA",
    },
}

EDUCATION: Groups = {
    "Up to secondary school": {
        "Primary school": """
            Preschool|1st-4th|5th-6th|7th-8th|none|no schooling|illiterate|primary|primary school|elementary
            elementary school|basic|basic.4y|basic.6y|basic.9y|grundschule|primaria|ecole primaire|less than high school
            compulsory|hauptschule|middle school|junior high""",
        "Secondary school": """
            9th|10th|11th|12th|HS-grad|high school|high.school|high school graduate|some high school|secondary
            secondary school|secondary education|upper secondary|lower secondary|abitur|realschule|gymnasium|gcse
            a level|a levels|baccalaureate|baccalaureat|bachillerato|maturita|ged|matura""",
    },
    "After secondary school": {
        "Vocational or some college": """
            Some-college|Assoc-acdm|Assoc-voc|associate|associate degree|associates degree|vocational
            vocational training|professional.course|professional course|apprenticeship|technical|technical school|trade
            trade school|diploma|certificate|ausbildung|lehre|fachschule|college|coll|post secondary""",
        "University": """
            Bachelors|Bachelor|Bachelor's degree|BA|BSc|BS|Masters|Master|Master's degree|MA|MSc|MS|MBA|Prof-school
            professional degree|Doctorate|doctoral|PhD|Ph.D.|tertiary|higher|higher education|university|univ
            university.degree|university degree|graduate|graduate school|postgraduate|undergraduate|diplom|magister
            promotion|licence|laurea|master of science|bachelor of science""",
    },
}

OCCUPATIONS: Groups = {
    "Office and professional work": {
        "Managers": """
            Exec-managerial|management|manager|executive|director|entrepreneur|self-employed|business owner|ceo""",
        "Professionals": """
            Prof-specialty|professional|teacher|lawyer|doctor|physician|engineer|scientist|accountant|architect
            nurse|professor|pharmacist|dentist|journalist|analyst|consultant|software engineer|programmer|developer
            economist|psychologist|researcher|artist|writer|social worker|veterinarian|librarian""",
        "Technicians and clerks": """
            Tech-support|technician|Adm-clerical|admin.|admin|administrative|clerk|clerical|secretary|assistant
            receptionist|bookkeeper|cashier|white-collar|laboratory technician|paralegal|office worker""",
    },
    "Manual work and services": {
        "Sales and services": """
            Sales|services|service|Other-service|Protective-serv|Priv-house-serv|housemaid|salesperson|shop assistant
            waiter|waitress|cook|chef|hairdresser|police officer|police|firefighter|guard|security guard|caregiver
            carer|bartender|flight attendant|Armed-Forces|soldier|military|salesman|barber""",
        "Trades, machines and farms": """
            Craft-repair|Machine-op-inspct|Transport-moving|Handlers-cleaners|Farming-fishing|blue-collar|mechanic
            electrician|plumber|carpenter|driver|truck driver|bus driver|cleaner|labourer|laborer|farmer|fisherman
            builder|construction worker|welder|painter|machine operator|factory worker|gardener|baker|butcher
            tailor|miner|mason|roofer|janitor|warehouse worker|technical operator""",
    },
    "Not working": {
        "Not working": "student|pupil|retired|pensioner|unemployed|housewife|homemaker|not working|disabled|none|child",
    },
}

MARITAL_STATUS: Groups = {
    "With a partner": {
        "With a partner": """
            Married|Married-civ-spouse|Married-AF-spouse|civil union|civil partnership|registered partnership|cohabiting
            living together|domestic partner|domestic partnership|remarried|verheiratet|marie|mariee|casado|casada
            sposato|sposata|partnered|common law""",
    },
    "Without a partner": {
        "Formerly married": """
            Divorced|Separated|Widowed|Married-spouse-absent|widow|widower|geschieden|verwitwet|divorce|divorcee|veuf
            veuve|divorciado|divorciada|viudo|viuda|divorziato|divorziata|vedovo|vedova|legally separated|annulled""",
        "Never married": """
            Never-married|Never married|Single|Unmarried|Unmarr|ledig|celibataire|soltero|soltera|celibe|nubile""",
    },
}

MONTHS: Groups = {
    "first half": {
        "first quarter": "January|Jan|February|Feb|March|Mar|Januar|Februar|März",
        "second quarter": "April|Apr|May|June|Jun|Mai|Juni",
    },
    "second half": {
        "third quarter": "July|Jul|August|Aug|September|Sep|Sept|Juli",
        "fourth quarter": "October|Oct|November|Nov|December|Dec|Oktober|Okt|Dezember|Dez",
    },
}

TOPICS: Mapping[str, Groups] = {
    "countries": COUNTRIES,
    "states of the USA": US_STATES,
    "levels of education": EDUCATION,
    "occupations": OCCUPATIONS,
    "marital status": MARITAL_STATUS,
    "months": MONTHS,
}
"""What is known, by topic. A code such as CA may be a country or a state: the topic that knows more values wins."""
