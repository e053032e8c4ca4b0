import { type UseQueryResult, useQuery } from '@tanstack/preact-query';
import { Problem, unwrap, withKey } from '../api/client';

/** Edge is what the public edge says about a city. */
export interface Edge {
	/** city is the name that other pages use for the city. */
	city: string;
	/** simulated is true if the operator has published the simulated air of the sandbox. */
	simulated: boolean;
}

/**
 * useEdge asks the public edge for a city. The result is null if the edge is off or does not know the city. The session
 * of the browser is not sent, because the edge answers without a key.
 */
export function useEdge(city: string): UseQueryResult<Edge | null, Error> {
	return useQuery({
		queryKey: ['public', city],
		queryFn: async ({ signal }) => {
			try {
				const reply = await unwrap(withKey.GET('/public/v1/cities/{city}', { params: { path: { city } }, credentials: 'omit', signal }));
				return { city, simulated: reply.current?.source.includes('simulator') ?? false };
			} catch (error) {
				if (error instanceof Problem && !error.passing) {
					return null;
				}
				throw error;
			}
		},
		// The operator switches the edge on and off by a restart.
		staleTime: Number.POSITIVE_INFINITY,
	});
}

const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** addresses returns the URLs of a city's badge and of the widget's script on a service. */
export function addresses(origin: string, city: string): { badge: string; script: string } {
	const edge = `${origin}/public/v1`;
	return { badge: `${edge}/cities/${encodeURIComponent(city)}/badge.svg`, script: `${edge}/widget.js` };
}

/**
 * snippets returns the code that shows a city on another page. name is the text that stands for the badge, and title is
 * the name of the city in the language.
 */
export function snippets(
	origin: string,
	city: string,
	language: 'en' | 'hi',
	name: string,
	title = city,
): { id: 'widget' | 'html' | 'markdown'; code: string }[] {
	const { badge, script } = addresses(origin, city);
	const lang = language === 'en' ? '' : ` data-lang="${language}"`;
	const named = title === city ? '' : ` data-name="${escaped(title)}"`;
	// A bracket would end the text of an image in Markdown.
	const alt = name.replace(/[[\]\\]/g, '\\$&');
	return [
		{ id: 'widget', code: `<script async src="${script}" data-city="${escaped(city)}"${lang}${named}></script>` },
		{ id: 'html', code: `<img src="${badge}" alt="${escaped(name)}">` },
		{ id: 'markdown', code: `![${alt}](${badge.replace(/[()]/g, (one) => (one === '(' ? '%28' : '%29'))})` },
	];
}
