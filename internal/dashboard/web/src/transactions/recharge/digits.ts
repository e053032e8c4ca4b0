/**
 * digitsOf returns the ten digits of a mobile number in any form that the API accepts; undefined while it is
 * incomplete.
 */
export function digitsOf(text: string): string | undefined {
	const digits = text.replace(/[\s-]/g, '').replace(/^(\+91|91(?=\d{10}$)|0(?=\d{10}$))/, '');
	return /^[6-9]\d{9}$/.test(digits) ? digits : undefined;
}
