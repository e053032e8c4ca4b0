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
		en: { none: 'No current data', old: 'Older than three hours', hours: 'AQI of the last 24 hours', data: 'Data' },
		hi: { none: 'अभी का आँकड़ा नहीं है', old: 'तीन घंटे से पुराना', hours: 'पिछले 24 घंटों का AQI', data: 'आँकड़े' },
	};
	const style = `
		:host { display: inline-block; max-width: 100%; font: 14px/1.4 system-ui, sans-serif; color: #15202b; }
		section { width: 18em; max-width: 100%; box-sizing: border-box; padding: 12px; border: 1px solid #d3d9e0; border-radius: 8px; background: #fff; }
		h2 { margin: 0 0 8px; font-size: 16px; }
		.now { display: flex; gap: 10px; align-items: baseline; padding: 6px 10px; border-radius: 6px; }
		.now b { font-size: 28px; line-height: 1.1; }
		p { margin: 8px 0 0; }
		small { display: block; margin-top: 8px; color: #4d5a68; }
		svg { display: block; width: 100%; height: 40px; margin-top: 8px; }`;

	const element = (name, content, parent) => {
		const made = document.createElement(name);
		made.textContent = content;
		parent.append(made);
		return made;
	};

	class VayuAQI extends HTMLElement {
		static observedAttributes = ['city', 'lang'];
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
			let page;
			try {
				const url = new URL(`cities/${encodeURIComponent(city)}`, base);
				const reply = await fetch(url, { credentials: 'omit', referrerPolicy: 'no-referrer' });
				page = reply.ok ? await reply.json() : { city };
			} catch {
				if (this.shadowRoot.childElementCount > 0) return; // the last figures stay, with their time
				page = { city };
			}
			if (latest === this.#latest) this.#show(page);
		}

		#show({ city, current, advice, hours }) {
			const language = (this.lang || document.documentElement.lang).startsWith('hi') ? 'hi' : 'en';
			const words = texts[language];
			const box = document.createElement('section');
			box.lang = language;
			element('h2', city, box);
			const now = element('div', '', box);
			now.className = 'now';
			if (!current) {
				now.textContent = words.none;
			} else {
				const category = advice[language].name;
				element('b', `${current.aqi}`, now);
				element('span', `AQI · ${category}`, now);
				const [fill, ink] = current.stale ? ['#d3d9e0', '#15202b'] : colours[current.category];
				now.style.setProperty('background', fill);
				now.style.setProperty('color', ink);
				if (hours?.length > 1) box.append(bars(hours, words.hours));
				element('p', current.stale ? words.old : advice[language].general, box);
				const when = new Intl.DateTimeFormat(`${language}-IN`, { dateStyle: 'medium', timeStyle: 'short', timeZone: 'Asia/Kolkata' });
				element('small', `${when.format(new Date(current.updated))} IST · ${words.data}: ${current.attribution.join(', ')}`, box);
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
		script.after(made);
	}
})();
