# SPDX-License-Identifier: MIT
"""Word lists only: names of columns, and names of invented people.

The words for columns feed `role_proposals`. An entry ends at "|" or at the end of its line. Entries are written as
separate words ("date of birth"); a column matches whether it separates them or not. Accents and case are ignored, and a
plural in -s is recognized. The languages are English, German, French, Spanish, Italian, Portuguese and Dutch, with the
most common Russian, Chinese and Japanese words.

The names feed `population`. They are ordinary given and family names; the people made from them are invented.
"""

from __future__ import annotations

DIRECT_IDENTIFIERS = {
    "a person's name": """
        first name|last name|full name|given name|family name|middle name|maiden name|birth name
        user name|nick name|sur name|second name|legal name|display name|contact name|forename|initials
        surname|signature|mother name|father name|spouse name|next of kin|mothers maiden name|alias
        screen name|vorname|nachname|familienname|geburtsname|benutzername|nom de famille|nom famille
        nom usage|prenom|nom complet|nom et prenom|apellido|apellidos|nombre completo|nombre y apellidos
        nombre de pila|cognome|nome completo|nome e cognome|sobrenome|apelido|voornaam|achternaam
        familienaam|roepnaam|имя|фамилия|отчество|фио|姓名|名字|氏名|名前""",
    "a way to reach someone": """
        email|e mail|mail address|email address|phone|phone number|telephone|tel|mobile|mobile phone
        cellphone|cell phone|fax|fax number|pager|address|street|street address|home address
        mailing address|address line|house number|contact number|skype|whatsapp|twitter|facebook
        linkedin|social media|telefon|telefonnummer|handy|handynummer|mobilnummer|anschrift|adresse
        strasse|hausnummer|courriel|numero de telephone|rue|telefono|celular|movil|correo
        correo electronico|direccion|calle|cellulare|indirizzo|telefone|telemovel|endereco|rua
        telefoonnummer|adres|straat|huisnummer|телефон|адрес|почта|电话|手机|地址|邮箱|電話番号|住所""",
    "an official number": """
        ssn|social security|social security number|social security no|national id|national insurance
        national insurance number|nino|nhs number|nhs no|nhs|passport|passport number|passport no|tax id
        tax number|taxpayer id|tin|itin|ein|driver license|drivers license|driving license
        driver licence|driving licence|license number|licence number|license no|certificate number
        certificate no|identity card|id card|id number|voter id|visa number|military id|medicare number
        medicaid number|health card number|aadhaar|pan number|steuernummer|steuer id
        sozialversicherungsnummer|versichertennummer|krankenversichertennummer|ausweisnummer
        personalausweis|reisepass|fuehrerschein|führerschein
        numero de securite sociale|securite sociale|nir|insee
        passeport|dni|nie|nif|curp|rfc|cedula|pasaporte|seguridad social|codice fiscale|passaporto
        patente|cpf|cnpj|cartao sus|bsn|burgerservicenummer|sofinummer|rijbewijs|pesel|personnummer
        паспорт|снилс|инн|身份证|身份证号|护照""",
    "the number of a person's record": """
        mrn|medical record|medical record number|medical record no|record number|record id|record no
        row id|row number|case id|case number|case no|chart number|health plan|health plan number
        beneficiary|beneficiary number|member number|policy number|insurance number|insurance id
        hospital number|encounter id|visit id|specimen id|sample id|aktenzeichen|fallnummer
        patientennummer|personalnummer|kundennummer|matrikelnummer|mitgliedsnummer|numero de dossier
        numero patient|matricule|expediente|historia clinica|numero paziente|cartella clinica|prontuario
        patientnummer|klantnummer|guid|uuid""",
    "an account or a card": """
        iban|bic|swift|account number|account no|bank account|routing number|sort code|credit card
        credit card number|debit card|card number|card no|cvv|cvc|pin|pin code|password|passwort
        kontonummer|kreditkarte|kreditkartennummer|numero de compte|carte bancaire|cuenta
        numero de cuenta|tarjeta|conto corrente|numero conto|carta di credito|conta bancaria
        rekeningnummer|wachtwoord|银行卡|口座番号""",
    "a vehicle, a device or a web address": """
        vin|vehicle id|vehicle identification number|license plate|licence plate|number plate
        plate number|registration plate|kennzeichen|nummernschild|plaque immatriculation|immatriculation
        matricula|targa|kenteken|device id|device serial|serial number|serial no|imei|imsi|msisdn
        mac address|ip|ip address|ipv4|ipv6|url|web site|homepage|web page|cookie|cookie id|session id
        advertising id|idfa|hostname""",
    "a face, a voice or a print": """
        photo|photograph|picture|portrait|face image|selfie|fingerprint|finger print|retina|iris scan
        voice print|voiceprint|biometric|lichtbild|fingerabdruck|empreinte digitale|huella
        impronta digitale|vingerafdruk""",
    "free text about a person": """
        notes|free text|comment|comments|remarks|clinical note|clinical notes|doctor note
        discharge summary|narrative|bemerkung|bemerkungen|notizen|commentaire|commentaires|remarque
        observaciones|comentario|comentarios|osservazioni|observacoes|opmerking|opmerkingen""",
}
"""Direct identifiers: HIPAA's eighteen and similar ones. A mapping from the topic to its words."""

WHOLE_NAMES = """
    name|id|identifier|nom|nombre|nome|naam|kennung|identifiant|identificador|identificativo
    patient|person|customer|client|employee|user|participant"""
"""Words that identify a person only if they are a column's whole name: "product name" is not about anyone."""

PERSONS = """
    patient|person|customer|client|employee|worker|user|member|student|pupil|subject|participant
    respondent|individual|donor|citizen|resident|tenant|applicant|voter|taxpayer|insured|subscriber
    cardholder|doctor|physician|nurse|teacher|staff|household|family|mother|father|spouse|guardian|owner
    contact|kunde|mitarbeiter|personal|versicherter|paciente|cliente|empleado|salarie|usager|paziente
    dipendente|utente|medewerker|klant"""
NUMBERS = "id|identifier|number|no|nr|num|code|key|uuid|guid|name|nummer|numero|nom|nombre|nome|naam"
"""A word for a person followed by one of these ("patient id", "customer name") identifies the person."""

QUASI_IDENTIFYING = {
    "age or a date in a person's life": """
        age|age group|age band|age range|birth|birthday|birthdate|birth date|date of birth|dob
        birth year|year of birth|yob|birth month|place of birth|birth place|death date|date of death|dod
        admission|admission date|admit date|discharge date|date of admission|hire date|hiring date
        start date|enrolment date|enrollment date|visit date|date of visit|service date|date|year|alter
        altersgruppe|geburtsdatum|geburtsjahr|geburtstag|geburtsort|aufnahmedatum|entlassungsdatum|datum
        naissance|date de naissance|annee de naissance|lieu de naissance|date deces|edad|nacimiento
        fecha de nacimiento|fecha nacimiento|fecha|eta|nascita|data di nascita|data nascita
        luogo di nascita|anno di nascita|idade|nascimento|data de nascimento|data nascimento|leeftijd
        geboortedatum|geboortejaar|geboorteplaats|возраст|дата рождения|年龄|出生日期|生日|年齢|生年月日""",
    "sex or gender": """
        sex|gender|male|female|geschlecht|sexe|genre|sexo|genero|sesso|genere|geslacht|пол|性别|性別""",
    "where a person lives": """
        zip|zip code|zip3|postal|postal code|post code|postcode|plz|postleitzahl|code postal
        codigo postal|cep|codice postale|city|town|village|municipality|commune|county|district|state
        province|region|country|ward|neighborhood|neighbourhood|census tract|tract|block group|latitude
        longitude|lat|lon|lng|gps|coordinate|location|geo|geohash|residence|precinct|canton|fips|nuts
        stadt|ort|wohnort|gemeinde|landkreis|kreis|bundesland|land|ville|departement|pays|ciudad
        municipio|provincia|pais|comunidad|citta|comune|regione|paese|residenza|cidade|bairro|estado
        distrito|stad|woonplaats|gemeente|provincie|город|индекс|область|регион|страна|邮编|城市|省
        郵便番号|都道府県""",
    "origin or language": """
        race|ethnicity|ethnic|ethnic group|nationality|citizenship|native country|country of birth
        country of origin|origin|ancestry|language|mother tongue|native language|tribe|immigration
        immigrant|nationalitaet|nationalität|staatsangehoerigkeit|staatsangehörigkeit|herkunft|muttersprache|sprache|nationalite|langue
        origine|nacionalidad|raza|idioma|nazionalita|cittadinanza|lingua|nacionalidade|raca
        nationaliteit|herkomst|taal|национальность|民族|国籍""",
    "schooling or work": """
        education|education level|educational|schooling|degree|qualification|school|college|university
        occupation|job|job title|profession|employer|employment|employed|work class|workclass|industry
        department|position|rank|military|veteran|bildung|bildungsabschluss|schulabschluss|abschluss
        ausbildung|beruf|taetigkeit|tätigkeit|arbeitgeber|branche|diplome|etudes|niveau etudes|metier|emploi
        employeur|educacion|estudios|ocupacion|profesion|empleo|istruzione|titolo di studio|occupazione
        professione|lavoro|educacao|escolaridade|ocupacao|profissao|opleiding|beroep|werkgever
        образование|профессия|должность|学历|职业|職業""",
    "family or household": """
        marital|marital status|civil status|married|divorced|spouse|relationship|household
        household size|family size|children|number of children|dependents|dependants|siblings|parity
        familienstand|haushalt|haushaltsgroesse|haushaltsgröße
        kinder|kinderzahl|etat civil|situation familiale
        matrimoniale|nombre enfants|enfants|estado civil|hijos|hogar|stato civile|figli|nucleo familiare
        filhos|agregado|burgerlijke staat|huishouden|kinderen|семейное положение|婚姻|婚姻状况""",
    "what can be seen of a person": """
        height|weight|body height|body weight|eye color|eye colour|hair color|hair colour|skin color
        skin colour|shoe size|handedness|koerpergroesse|körpergröße|groesse|größe
        gewicht|taille|poids|altura|estatura
        peso|altezza|lengte|car|vehicle|dwelling|housing|tenure|home owner|homeowner""",
}
"""What others may know about a person. A mapping from the topic to its words."""

SENSITIVE = {
    "health": """
        disease|diagnosis|diagnoses|diagnostic|icd|icd9|icd10|icd 9|icd 10|drg|illness|condition
        medical condition|comorbidity|symptom|treatment|therapy|medication|drug|prescription|procedure
        surgery|operation|allergy|hiv|aids|std|sti|hepatitis|cancer|tumor|tumour|diabetes|diabetic
        stroke|asthma|depression|mental health|psychiatric|disability|pregnant|pregnancy|abortion
        blood type|blood group|blood pressure|cholesterol|bmi|glucose|hba1c|lab result|test result
        genotype|gene|genome|dna|mutation|smoker|smoking|alcohol|addiction|substance use|cause of death
        mortality|died|survival|outcome|health|health status|covid|vaccine|vaccinated|vaccination
        krankheit|diagnose|erkrankung|behandlung|therapie|medikament|behinderung|schwangerschaft
        blutgruppe|raucher|gesundheit|todesursache|maladie|traitement|medicament|handicap|grossesse
        sante|enfermedad|diagnostico|tratamiento|medicamento|discapacidad|embarazo|salud|malattia
        diagnosi|terapia|farmaco|gravidanza|salute|doenca|tratamento|saude|gravidez|ziekte|behandeling
        medicijn|zwangerschap|gezondheid|болезнь|диагноз|лечение|疾病|诊断|病名|診断""",
    "money": """
        salary|salary level|salary class|wage|wages|income|pay|earnings|compensation|bonus|revenue
        net worth|wealth|capital gain|capital loss|capital gains|capital losses|balance|account balance
        debt|loan|loan amount|mortgage|credit score|credit rating|credit limit|default|bankruptcy
        payment|rent|pension|benefit|benefits|tax paid|spending|expenditure|gehalt|lohn|einkommen
        verdienst|vermoegen|vermögen|schulden|kredit|miete|rente|salaire|revenu|traitement mensuel|dette|pret
        loyer|salario|sueldo|ingreso|ingresos|renta|deuda|prestamo|stipendio|reddito|retribuzione|debito
        prestito|pensione|rendimento|renda|divida|emprestimo|salaris|inkomen|loon|schuld|lening|зарплата
        доход|工资|收入|薪水|年収|給与""",
    "belief, love or politics": """
        religion|religious|faith|church|denomination|belief|political|politics|political party
        political opinion|party|vote|voted|union member|union membership|trade union|sexual orientation
        sexuality|orientation|sex life|sexual|gender identity|philosophy|konfession|glaube|partei
        gewerkschaft|sexuelle orientierung|syndicat|opinion politique|orientation sexuelle|religione
        partito|orientamento sessuale|partido|sindicato|orientacion sexual|orientacao sexual|religiao
        geloof|vakbond|религия|партия|宗教|政治面貌""",
    "the law or a verdict on a person": """
        crime|criminal|criminal record|offence|offense|arrest|arrested|conviction|convicted|sentence
        prison|felony|probation|recidivism|victim|violence|abuse|lawsuit|straftat|vorstrafe|delit
        condamnation|casier judiciaire|delito|condena|antecedentes|reato|condanna|crimen|misdrijf
        strafblad|grade|gpa|exam score|test score|iq|performance rating|rating|complaint|dismissal
        note examen|noten|судимость|犯罪|成绩""",
}
"""What an adversary wants to learn. A mapping from the topic to its words."""

FEMALE_NAMES = """
    Ada Adele Agnes Alba Alice Alma Amalia Amina Amy Ana Andrea Angela Anita Anna Aurora Beatrice Bella
    Bianca Carla Carmen Caterina Cecilia Chiara Clara Daisy Diana Dora Edith Elena Elisa Ella Elsa Emily
    Emma Erica Esther Eva Fatima Fiona Flora Frances Freya Gemma Giulia Grace Greta Hannah Hazel Helen Ida
    Ines Ingrid Irene Iris Isabel Ivy Jane Joan Julia Karen Kate Laila Lara Laura Lea Leila Lena Linda Lisa
    Livia Lucia Lucy Luisa Lydia Maria Marta Mary Matilda Maya Mei Mila Miriam Mona Nadia Naomi Nina Nora
    Olga Olivia Paola Paula Petra Priya Rachel Rita Rosa Ruth Sara Selma Silvia Sofia Sonia Stella Susan
    Tara Teresa Tina Ursula Vera Viola Wanda Yara Zoe"""
MALE_NAMES = """
    Aaron Adam Ahmed Alan Albert Aldo Alex Ali Anton Arthur Basil Ben Bruno Carl Carlo Cesar Charles Chen
    Claude Cyril Daniel Dario David Diego Dylan Edgar Edward Elias Emil Enzo Eric Ernest Ettore Fabio Felix
    Filippo Finn Frank Franz Fred Gabriel George Gilbert Gino Giorgio Giulio Hans Harold Hasan Henry Hugo
    Ian Ibrahim Igor Isaac Ivan Jack Jacob James Jan Jean Joel John Jonas Jose Joseph Juan Karim Kevin Klaus
    Lars Leo Leon Liam Louis Luca Luis Marco Mario Mark Martin Matteo Max Michael Miguel Milan Nathan Neil
    Nico Noah Oliver Omar Oscar Otto Owen Pablo Paolo Patrick Paul Peter Pietro Rafael Ralph Ravi Remo Rene
    Robert Roy Ruben Samuel Sergio Simon Stefan Theo Thomas Tom Ugo Victor Vito Walter Will Yusuf"""
FAMILY_NAMES = """
    Abbott Adler Aguilar Alberti Almeida Alvarez Amato Andersen Archer Arnold Bailey Baker Baldi Barbieri
    Barker Barnes Bassi Bauer Becker Bellini Bennett Benson Berger Bianchi Bishop Blanc Bosch Boyd Brandt
    Braun Brennan Bruni Bryant Burke Burns Butler Byrne Campbell Caruso Carter Castillo Chang Chapman Clarke
    Colombo Conti Cooper Costa Craig Cruz Dalton Davies Delgado Diaz Dixon Doyle Dubois Duffy Duncan Dunn
    Durand Ebert Eder Ellis Esposito Evans Fabbri Farrell Faure Ferrari Ferreira Fiore Fischer Fisher
    Fleming Fontana Foster Fowler Franco Frey Fuchs Garcia Gardner Gatti Gibson Girard Gomes Gonzalez Gordon
    Graf Graham Greco Griffin Gruber Guerra Haas Hansen Harper Hartmann Hayes Heller Herrera Hoffmann Holmes
    Horvat Howard Hughes Hunter Ibarra Jansen Jensen Jimenez Johansson Jordan Kaiser Kaur Keller Kelly
    Kennedy Khan Kim Klein Koch Kovac Kowalski Kramer Kraus Kumar Lambert Lang Larsen Leclerc Lehmann Leone
    Lewis Lima Lombardi Lopez Lorenz Lowe Ludwig Lynch Maier Mancini Marchetti Marino Marsh Martini Mason
    Mayer Medina Mendes Mercier Meyer Miller Molina Monti Morales Moreau Moretti Morgan Moser Murphy Murray
    Navarro Nelson Neri Nguyen Nielsen Novak Nunes Olsen Ortega Ortiz Owens Palmer Parisi Park Parker Patel
    Pearson Pereira Perez Petersen Peterson Pohl Porter Quinn Ramos Reid Reyes Ricci Richter Rinaldi Rivera
    Rizzi Romero Rossi Roth Roux Russo Ryan Sala Santos Sanchez Sato Sauer Schmid Schneider Schulz Serra
    Shah Sharma Shaw Silva Singh Soto Spencer Stein Stone Suzuki Svensson Tanaka Testa Thompson Torres Tran
    Tucker Turner Valente Vargas Vega Vidal Villa Vitale Vogel Wagner Walker Walsh Wang Ward Watson Weber
    Weiss Werner West Wolf Wood Wright Yang Young Zanetti Zhang Ziegler"""
