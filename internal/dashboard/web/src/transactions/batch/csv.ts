import type { Kind } from './kind';

/** columns are those of a download as a table, in order. */
export const columns: Record<Kind, readonly string[]> = {
	recharge: [
		'index',
		'status',
		'transaction_id',
		'ref_id',
		'type',
		'mobile',
		'operator',
		'circle',
		'amount',
		'created_at',
		'completed_at',
		'failed_at',
		'refunded_at',
		'message',
		'error_code',
		'error_message',
	],
	verification: [
		'index',
		'status',
		'verified',
		'verification_id',
		'ref_id',
		'method',
		'account_number',
		'ifsc',
		'vpa',
		'beneficiary_name',
		'name_match',
		'name_match_score',
		'account_status',
		'bank',
		'branch',
		'suspicious',
		'suspicious_reasons',
		'utr',
		'created_at',
		'verified_at',
		'failed_at',
		'error_code',
		'error_message',
	],
};

/**
 * cell writes a value for a table. A text that a spreadsheet would take for a formula has
 * an apostrophe in front, as in the API's own tables; a number is never one.
 */
export function cell(value: unknown): string {
	if (value === undefined || value === null) {
		return '';
	}
	let text = Array.isArray(value) ? value.join(' ') : String(value);
	if (typeof value !== 'number' && /^[=+\-@\t\r\n\uFF1D\uFF0B\uFF0D\uFF20]/.test(text)) {
		text = `'${text}`;
	}
	return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** line writes one result as a line of the table. */
export function line(kind: Kind, result: Record<string, unknown>): string {
	const error = (result.error ?? {}) as Record<string, unknown>;
	const flat: Record<string, unknown> = { ...result, error_code: error.code, error_message: error.message };
	return `${columns[kind].map((name) => cell(flat[name])).join(',')}\r\n`;
}

/** head is the line of names, after the mark by which spreadsheets know UTF-8. */
export function head(kind: Kind): string {
	return `\uFEFF${columns[kind].join(',')}\r\n`;
}
