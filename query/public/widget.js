// Shows the current air of a city in a page of any origin, with one script tag:
//
//   <script async src="https://air.example.com/public/v1/widget.js" data-city="Delhi"></script>
//
// or, beside the script, with elements: <vayu-aqi city="Delhi" lang="hi"></vayu-aqi>.
// It sets no cookie, stores nothing, and sends nothing but the name of the city. Under a Content-Security-Policy the page
// needs the origin of the script in script-src and connect-src, and nothing else: styles are a constructed sheet.
(() => {
	'use strict';
	const script = document.currentScript;
	const base = new URL('.', script.src);
	const refresh = 600_000; // milliseconds; the browser's cache decides whether that is a request
	const colours = {
		Good: ['#4db6ac', '#06231f'],
		Satisfactory: ['#a8d46f', '#1b2b05'],
		Moderate: ['#ffdf4d', '#302800'],
		Poor: ['#f79a3e', '#331a00'],
		'Very Poor': ['#c62f2b', '#fffffe'],
		Severe: ['#5c0f26', '#fffffe'],
	};
	const texts = {
		en: { none: 'No current data', unknown: 'Unknown place', old: 'Older than three hours', hours: 'AQI of the last 24 hours', data: 'Data', zone: 'IST', simulated: 'Simulated data' },
		hi: { none: 'अभी का आँकड़ा नहीं है', unknown: 'यह स्थान अज्ञात है', old: 'तीन घंटे से पुराना', hours: 'पिछले 24 घंटों का AQI', data: 'आँकड़े', zone: 'भारतीय समय', simulated: 'बनावटी आँकड़े' },
		bn: { none: 'বর্তমান তথ্য নেই', unknown: 'অজানা স্থান', old: 'তিন ঘণ্টার বেশি পুরোনো', hours: 'গত 24 ঘণ্টার AQI', data: 'তথ্য', zone: 'ভারতীয় সময়', simulated: 'কৃত্রিম তথ্য' },
		gu: { none: 'હાલની માહિતી નથી', unknown: 'અજ્ઞાત સ્થળ', old: 'ત્રણ કલાકથી જૂની', hours: 'છેલ્લા 24 કલાકનો AQI', data: 'માહિતી', zone: 'ભારતીય સમય', simulated: 'કૃત્રિમ માહિતી' },
		kn: { none: 'ಪ್ರಸ್ತುತ ಮಾಹಿತಿ ಇಲ್ಲ', unknown: 'ಅಪರಿಚಿತ ಸ್ಥಳ', old: 'ಮೂರು ಗಂಟೆಗಿಂತ ಹಳೆಯದು', hours: 'ಕಳೆದ 24 ಗಂಟೆಗಳ AQI', data: 'ಮಾಹಿತಿ', zone: 'ಭಾರತೀಯ ಸಮಯ', simulated: 'ಕೃತಕ ಮಾಹಿತಿ' },
		ml: { none: 'നിലവിലെ വിവരം ഇല്ല', unknown: 'അറിയാത്ത സ്ഥലം', old: 'മൂന്നു മണിക്കൂറിലേറെ പഴയത്', hours: 'കഴിഞ്ഞ 24 മണിക്കൂറിലെ AQI', data: 'വിവരം', zone: 'ഇന്ത്യൻ സമയം', simulated: 'കൃത്രിമ വിവരം' },
		mr: { none: 'सध्याची माहिती नाही', unknown: 'अज्ञात ठिकाण', old: 'तीन तासांपेक्षा जुनी', hours: 'मागील 24 तासांचा AQI', data: 'माहिती', zone: 'भारतीय वेळ', simulated: 'कृत्रिम माहिती' },
		pa: { none: 'ਮੌਜੂਦਾ ਅੰਕੜਾ ਨਹੀਂ ਹੈ', unknown: 'ਅਣਜਾਣ ਥਾਂ', old: 'ਤਿੰਨ ਘੰਟਿਆਂ ਤੋਂ ਪੁਰਾਣਾ', hours: 'ਪਿਛਲੇ 24 ਘੰਟਿਆਂ ਦਾ AQI', data: 'ਅੰਕੜੇ', zone: 'ਭਾਰਤੀ ਸਮਾਂ', simulated: 'ਬਣਾਵਟੀ ਅੰਕੜੇ' },
		ta: { none: 'தற்போதைய தரவு இல்லை', unknown: 'அறியப்படாத இடம்', old: 'மூன்று மணி நேரத்துக்கு மேல் பழையது', hours: 'கடந்த 24 மணி நேர AQI', data: 'தரவு', zone: 'இந்திய நேரம்', simulated: 'செயற்கைத் தரவு' },
		te: { none: 'ప్రస్తుత సమాచారం లేదు', unknown: 'తెలియని ప్రదేశం', old: 'మూడు గంటల కంటే పాతది', hours: 'గత 24 గంటల AQI', data: 'సమాచారం', zone: 'భారత సమయం', simulated: 'కృత్రిమ సమాచారం' },
	};
	// The codes of problems that an unsuitable name causes.
	const names = new Set(['location_not_found', 'ambiguous_location']);
	const short = { dateStyle: 'medium', timeStyle: 'short' };
	// Hindi names the part of the day, and has no am and pm.
	const hindi = { day: 'numeric', month: 'short', year: 'numeric', dayPeriod: 'short', hour: 'numeric', minute: '2-digit' };
	const style = `
		:host { display: inline-block; vertical-align: top; max-width: 100%; font: 14px/1.4 system-ui, sans-serif; color: #15202b; }
		section { width: 18em; max-width: 100%; box-sizing: border-box; padding: 12px; border: 1px solid #d3d9e0; border-radius: 8px; background: #fff; }
		h2 { margin: 0 0 8px; font-size: 16px; }
		.now { display: flex; gap: 10px; align-items: baseline; padding: 6px 10px; border-radius: 6px; }
		.now b { font-size: 28px; line-height: 1.1; }
		p { margin: 8px 0 0; }
		small { display: block; margin-top: 8px; color: #4d5a68; }
		.hours { color: #4d5a68; font-size: smaller; }
		svg { display: block; width: 100%; height: 40px; margin-top: 8px; }`;

	const element = (name, content, parent) => {
		const made = document.createElement(name);
		made.textContent = content;
		parent.append(made);
		return made;
	};

	class VayuAQI extends HTMLElement {
		static observedAttributes = ['city', 'lang', 'name'];
		#timer;
		#latest = 0;
		#due = false;

		constructor() {
			super();
			const sheet = new CSSStyleSheet();
			sheet.replaceSync(style);
			this.attachShadow({ mode: 'open' }).adoptedStyleSheets = [sheet];
		}

		connectedCallback() {
			this.#soon();
			this.#timer = setInterval(() => document.hidden || this.#load(), refresh);
		}

		disconnectedCallback() {
			clearInterval(this.#timer);
		}

		attributeChangedCallback() {
			if (this.isConnected) this.#soon();
		}

		// soon loads once for several changes: an element of the page's own HTML gets each attribute as a change.
		#soon() {
			if (this.#due) return;
			this.#due = true;
			queueMicrotask(() => {
				this.#due = false;
				this.#load();
			});
		}

		async #load() {
			const latest = ++this.#latest;
			const city = this.getAttribute('city') ?? '';
			const language = this.#language();
			let page;
			if (city === '') return;
			try {
				const url = new URL(`cities/${encodeURIComponent(city)}`, base);
				if (language !== 'en' && language !== 'hi') url.searchParams.set('language', language);
				const reply = await fetch(url, { credentials: 'omit', referrerPolicy: 'no-referrer' });
				page = await reply.json();
				if (!reply.ok) page = { city, unknown: names.has(page.error?.code) };
			} catch {
				if (this.shadowRoot.childElementCount > 0) return; // the last figures stay, with their time
				page = { city };
			}
			if (latest === this.#latest) this.#show(page, language);
		}

		// language is that of the element or the page, without its region; English unless there are texts in it.
		#language() {
			const [code] = (this.lang || document.documentElement.lang).toLowerCase().split('-');
			return Object.hasOwn(texts, code) ? code : 'en';
		}

		#show({ city, unknown, current, advice, hours }, language) {
			const words = texts[language];
			const box = document.createElement('section');
			box.lang = language;
			element('h2', this.getAttribute('name') || city, box);
			const now = element('div', '', box);
			now.className = 'now';
			if (!current) {
				now.textContent = unknown ? words.unknown : words.none;
				now.style.setProperty('padding', '0');
			} else {
				const category = advice[language].name;
				element('b', `${current.aqi}`, now);
				element('span', `AQI · ${category}`, now);
				const [fill, ink] = current.stale ? ['#d3d9e0', '#15202b'] : colours[current.category];
				now.style.setProperty('background', fill);
				now.style.setProperty('color', ink);
				if (hours?.length > 1) {
					box.append(bars(hours, words.hours));
					Object.assign(element('div', words.hours, box), { className: 'hours', ariaHidden: 'true' }); // the label of the bars
				}
				element('p', current.stale ? words.old : advice[language].general, box);
				const when = new Intl.DateTimeFormat(`${language}-IN`, { ...(language === 'hi' ? hindi : short), timeZone: 'Asia/Kolkata' });
				const small = element('small', `${when.format(new Date(current.updated))} ${words.zone} · ${words.data}: `, box);
				current.attribution.forEach((name, n) => {
					if (n > 0) small.append(', ');
					// The attribution of the simulator is not a name, so it has a text in each language. The names are in English.
					const known = name === texts.en.simulated;
					element('span', known ? words.simulated : name, small).lang = known ? language : 'en';
				});
			}
			this.shadowRoot.replaceChildren(box);
		}
	}

	// bars draws a bar for each hour. A missing hour is a gap.
	const bars = (hours, label) => {
		const draw = (name, attributes) => {
			const made = document.createElementNS('http://www.w3.org/2000/svg', name);
			for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
			return made;
		};
		const end = Date.parse(hours.at(-1).hour);
		const most = Math.max(100, ...hours.map((h) => h.aqi));
		const svg = draw('svg', { viewBox: '0 0 240 40', preserveAspectRatio: 'none', role: 'img', 'aria-label': label });
		for (const h of hours) {
			const height = Math.max(1, (40 * h.aqi) / most);
			const x = 230 - (10 * (end - Date.parse(h.hour))) / 3_600_000;
			svg.append(draw('rect', { x, y: 40 - height, width: 9, height, fill: colours[h.category][0] }));
		}
		return svg;
	};

	if (!customElements.get('vayu-aqi')) customElements.define('vayu-aqi', VayuAQI);
	if (script.dataset.city) {
		const made = document.createElement('vayu-aqi');
		made.setAttribute('city', script.dataset.city);
		if (script.dataset.lang) made.setAttribute('lang', script.dataset.lang);
		if (script.dataset.name) made.setAttribute('name', script.dataset.name);
		script.after(made);
	}
})();
