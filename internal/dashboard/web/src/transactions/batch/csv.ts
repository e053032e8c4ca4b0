import type { Kind } from './kind';

/** columns are the columns of a CSV download, in order. */
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
 * cell formats a value for a CSV file. A text that a spreadsheet would evaluate as a formula gets an apostrophe
 * in front, as in the API's own CSV. Numbers never get one.
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

/** line formats one result as a line of CSV. */
export function line(kind: Kind, result: Record<string, unknown>): string {
	const error = (result.error ?? {}) as Record<string, unknown>;
	const flat: Record<string, unknown> = { ...result, error_code: error.code, error_message: error.message };
	return `${columns[kind].map((name) => cell(flat[name])).join(',')}\r\n`;
}

/** head returns the header line. It begins with a byte order mark, by which spreadsheets detect UTF-8. */
export function head(kind: Kind): string {
	return `\uFEFF${columns[kind].join(',')}\r\n`;
}
