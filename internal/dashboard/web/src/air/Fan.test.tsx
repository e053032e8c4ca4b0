import { render } from '@testing-library/preact';
import { expect, test } from 'vitest';
import { Fan } from './Fan';

test.each([4, 7, 24, 43, 48, 72])('no tick of %i hours is cut at the right end', (hours) => {
	const days = Array.from({ length: hours }, (_, i) => ({ at: 1_795_910_400 + i * 3600, of: { p10: 40, p50: 60, p90: 80 } }));
	const { container } = render(<Fan days={days} step="hour" figure="pm25" unit="µg/m³" label="hours" />);
	const at = [...container.querySelectorAll('.tick')].map((tick) => Number(tick.getAttribute('x')));
	expect(at.length).toBeGreaterThan(2);
	// The chart is 640 units wide, and a text half of 64.
	expect(Math.max(...at)).toBeLessThanOrEqual(608);
});
