import type { Key } from '../../i18n';
import { digitsOf } from '../recharge/digits';
import { amountOf } from '../recorded';
import type { Kind } from './kind';

/** mostRecords is the maximum number of records of a batch, and mostBytes the maximum size of its body. */
export const mostRecords = 10_000;
export const mostBytes = 8 << 20;

/** Parser parses CSV. It is papaparse's parse, which is loaded on demand. */
export type Parser = (text: string) => string[][];

/** RecordFault is an error in a record. row counts from 1, without the header line. */
export interface RecordFault {
	row: number;
	says: Key;
	value: string;
}

/** Row is a record of the request body. */
export type Row = Record<string, unknown>;

/** Read is the parsed content of a text. */
export interface Read {
	records: Row[];
	troubles: RecordFault[];
	/** whole is the reason why no part of the text can be read. */
	whole?: Key;
}

/** names maps the accepted column names, in the forms in which users write them. */
const names: Record<Kind, Record<string, string>> = {
	recharge: {
		mobile: 'mobile',
		mobilenumber: 'mobile',
		number: 'mobile',
		phone: 'mobile',
		subscriberid: 'subscriber_id',
		operator: 'operator',
		amount: 'amount',
		type: 'type',
		refid: 'ref_id',
		ref: 'ref_id',
		reference: 'ref_id',
	},
	verification: {
		accountnumber: 'account_number',
		account: 'account_number',
		ifsc: 'ifsc',
		ifsccode: 'ifsc',
		vpa: 'vpa',
		upi: 'vpa',
		upiid: 'vpa',
		name: 'name',
		beneficiaryname: 'name',
		namematchtolerance: 'name_match_tolerance',
		tolerance: 'name_match_tolerance',
		refid: 'ref_id',
		ref: 'ref_id',
		reference: 'ref_id',
	},
};

/** turn is the number of records that are processed before the browser can handle other events. */
const turn = 1000;

function pause(): Promise<void> {
	return new Promise((done) => setTimeout(done, 0));
}

/**
 * read parses records that a user pasted or chose: CSV with a header line, JSON (an array or a request body), or
 * JSON Lines. Records of a CSV file without a reference get one from the batch's reference, so that sending the
 * batch again is idempotent.
 */
export async function read(kind: Kind, text: string, ref: string, parse: Parser): Promise<Read> {
	const plain = text.replace(/^\uFEFF/, '').trim();
	if (plain === '') {
		return { records: [], troubles: [], whole: 'batch.wrong.empty' };
	}
	const found = /^[[{]/.test(plain) ? fromJSON(kind, plain) : fromTable(kind, parse(plain), ref);
	if (found.whole) {
		return { records: [], troubles: [], whole: found.whole };
	}
	if (found.rows.length === 0) {
		return { records: [], troubles: [], whole: 'batch.wrong.empty' };
	}
	if (found.rows.length > mostRecords) {
		return { records: [], troubles: [], whole: 'batch.wrong.many' };
	}
	const records: Row[] = [];
	const troubles: RecordFault[] = [];
	const seen = new Set<string>();
	for (const [index, row] of found.rows.entries()) {
		if (index % turn === turn - 1) {
			await pause();
		}
		const trouble = check(kind, row, seen);
		if (trouble) {
			troubles.push({ row: index + 1, ...trouble });
		}
		records.push(isRow(row) ? row : { value: row });
	}
	return { records, troubles };
}

type Found = { rows: unknown[]; whole?: Key };

function fromJSON(kind: Kind, text: string): Found {
	try {
		const whole: unknown = JSON.parse(text);
		if (Array.isArray(whole)) {
			return { rows: whole };
		}
		if (isRow(whole)) {
			const list = whole[kind === 'recharge' ? 'recharges' : 'records'];
			return { rows: Array.isArray(list) ? list : [whole] };
		}
	} catch {
		// The text can still be JSON Lines.
	}
	const rows: unknown[] = [];
	for (const line of text.split('\n')) {
		if (line.trim() === '') {
			continue;
		}
		try {
			rows.push(JSON.parse(line));
		} catch {
			return { rows: [], whole: 'batch.wrong.json' };
		}
	}
	return { rows };
}

function fromTable(kind: Kind, table: string[][], ref: string): Found {
	const columns = (table[0] ?? []).map((cell) => names[kind][cell.toLowerCase().replace(/[^a-z]/g, '')]);
	const needed = kind === 'recharge' ? ['mobile', 'subscriber_id'] : ['account_number', 'vpa'];
	if (!needed.some((name) => columns.includes(name))) {
		return { rows: [], whole: `batch.wrong.names.${kind}` };
	}
	const rows = table.slice(1).map((cells, index) => {
		const row: Row = {};
		for (const [column, name] of columns.entries()) {
			const cell = cells[column]?.trim();
			if (name && cell) {
				row[name] = cell;
			}
		}
		return complete(kind, row, `${ref}-${index + 1}`);
	});
	return { rows };
}

/** complete converts a row of texts into a record of the API, and fills in optional fields. */
function complete(kind: Kind, row: Row, ref: string): Row {
	row.ref_id ??= ref;
	if (kind === 'recharge') {
		const type = typeof row.type === 'string' ? row.type.toLowerCase() : row.subscriber_id ? 'dth' : 'prepaid';
		const amount = typeof row.amount === 'string' ? (amountOf(row.amount) ?? row.amount) : row.amount;
		return { ...row, type, operator: row.operator ?? (type === 'prepaid' ? 'auto' : undefined), amount };
	}
	const tolerance = row.name_match_tolerance;
	return typeof tolerance === 'string' && /^\d{1,3}$/.test(tolerance) ? { ...row, name_match_tolerance: Number(tolerance) } : row;
}

function isRow(value: unknown): value is Row {
	return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function text(value: unknown): string {
	return value === undefined || value === null ? '' : String(value);
}

/** check returns the first fault of a record that the page can detect without a call. */
function check(kind: Kind, row: unknown, seen: Set<string>): { says: Key; value: string } | undefined {
	if (!isRow(row)) {
		return { says: 'batch.wrong.object', value: JSON.stringify(row).slice(0, 40) };
	}
	const ref = text(row.ref_id);
	if (ref !== '' && seen.has(ref)) {
		return { says: 'batch.wrong.twice', value: ref };
	}
	seen.add(ref);
	return kind === 'recharge' ? checkRecharge(row) : checkVerification(row);
}

/**
 * spreadsheet matches the exponent notation that spreadsheets use for a long number. The number's digits are
 * lost.
 */
const spreadsheet = /^\d(\.\d+)?E\+?\d+$/i;

function checkRecharge(row: Row): { says: Key; value: string } | undefined {
	const type = text(row.type);
	const number = text(row.mobile ?? row.subscriber_id);
	if (type !== 'prepaid' && type !== 'dth') {
		return { says: 'batch.wrong.type', value: type };
	}
	if (spreadsheet.test(number)) {
		return { says: 'batch.wrong.spreadsheet', value: number };
	}
	if (type === 'prepaid' ? digitsOf(number) === undefined : !/^\d{8,12}$/.test(number)) {
		return { says: type === 'prepaid' ? 'batch.wrong.mobile' : 'batch.wrong.subscriber', value: number };
	}
	const amount = row.amount;
	if (typeof amount !== 'number' || amountOf(String(amount)) === undefined || amount < 10 || amount > 10_000) {
		return { says: 'batch.wrong.amount', value: text(amount) };
	}
	if (text(row.operator) === '') {
		return { says: 'batch.wrong.operator', value: '' };
	}
	if (text(row.ref_id) === '') {
		return { says: 'batch.wrong.ref', value: '' };
	}
	return undefined;
}

function checkVerification(row: Row): { says: Key; value: string } | undefined {
	const account = text(row.account_number);
	const vpa = text(row.vpa).trim();
	if ((account === '') === (vpa === '')) {
		return { says: 'batch.wrong.either', value: account };
	}
	const name = text(row.name);
	if (name !== '' && !/\p{L}/u.test(name)) {
		return { says: 'batch.wrong.name', value: name };
	}
	if (vpa !== '') {
		return /^[A-Za-z0-9.\-_]{2,256}@[A-Za-z][A-Za-z0-9]{1,64}$/.test(vpa) ? undefined : { says: 'batch.wrong.vpa', value: vpa };
	}
	if (spreadsheet.test(account)) {
		return { says: 'batch.wrong.spreadsheet', value: account };
	}
	if (typeof row.account_number !== 'string' || !/^\d{9,18}$/.test(account)) {
		return { says: 'batch.wrong.account', value: account };
	}
	const ifsc = text(row.ifsc).trim();
	return /^[A-Za-z]{4}0[A-Za-z0-9]{6}$/.test(ifsc) ? undefined : { says: 'batch.wrong.ifsc', value: ifsc };
}

/** body serializes a batch in parts, as read does, because serializing it at once would block the browser. */
export async function body(kind: Kind, records: readonly Row[], ref: string): Promise<Blob> {
	const parts = [`{"ref_id":${JSON.stringify(ref)},"${kind === 'recharge' ? 'recharges' : 'records'}":[`];
	for (let at = 0; at < records.length; at += turn) {
		if (at > 0) {
			parts.push(',');
			await pause();
		}
		parts.push(JSON.stringify(records.slice(at, at + turn)).slice(1, -1));
	}
	parts.push(']}');
	return new Blob(parts);
}

/** withoutRow returns the records without faults. */
export function withoutRow(read: Read): Row[] {
	const bad = new Set(read.troubles.map((trouble) => trouble.row));
	return read.records.filter((_, index) => !bad.has(index + 1));
}

/** sum adds up the amounts of recharges in paise and returns rupees. */
export function sum(records: readonly Row[]): number {
	let paise = 0;
	for (const record of records) {
		if (typeof record.amount === 'number') {
			paise += Math.round(record.amount * 100);
		}
	}
	return paise / 100;
}
