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
export function line(kind: Kind, result: object): string {
	return lineOf(columns[kind], result);
}

function lineOf(names: readonly string[], result: object): string {
	const error = ((result as { error?: unknown }).error ?? {}) as Record<string, unknown>;
	const flat: Record<string, unknown> = { ...result, error_code: error.code, error_message: error.message };
	return `${names.map((name) => cell(flat[name])).join(',')}\r\n`;
}

/** listed formats rows of a list as CSV: the columns of a batch without the index, and the batch. */
export function listed(kind: Kind, rows: readonly object[]): string {
	const names = [...columns[kind].filter((name) => name !== 'index'), 'batch_id'];
	return `\uFEFF${names.join(',')}\r\n${rows.map((row) => lineOf(names, row)).join('')}`;
}

/** head returns the header line. It begins with a byte order mark, by which spreadsheets detect UTF-8. */
export function head(kind: Kind): string {
	return `\uFEFF${columns[kind].join(',')}\r\n`;
}
