import type { Key } from '../../i18n';
import { digitsOf } from '../recharge/digits';
import { amountOf } from '../recorded';
import type { Kind } from './kind';

/** mostRecords is how many records a batch has at most, and mostBytes how large its body is. */
export const mostRecords = 10_000;
export const mostBytes = 8 << 20;

/** Parser reads a text as a table; papaparse's parse, which is fetched when it is needed. */
export type Parser = (text: string) => string[][];

/** RecordFault is what is wrong with a record; row counts from 1, without the line of names. */
export interface RecordFault {
	row: number;
	says: Key;
	value: string;
}

/** Row is a record as it would be sent. */
export type Row = Record<string, unknown>;

/** Read is what a text holds. */
export interface Read {
	records: Row[];
	troubles: RecordFault[];
	/** whole is why nothing of the text can be read. */
	whole?: Key;
}

/** names are the columns that are understood, in the forms in which people write them. */
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

/** turn is how many records are looked at before the browser may do something else. */
const turn = 1000;

function pause(): Promise<void> {
	return new Promise((done) => setTimeout(done, 0));
}

/**
 * read makes records of what a person has pasted or chosen: CSV with a line of names,
 * JSON (an array, or the body of a batch), or a JSON object a line. Records without a
 * reference get one from that of the batch, so that sending it again is safe.
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
		// It may still be an object a line.
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

/** complete makes of a row of texts what the API takes, with what may be left out. */
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

/** check says what the API would refuse, as far as that can be seen without a call. */
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

/** spreadsheet is what a program for tables makes of a long number: its digits are lost. */
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

/**
 * body is the JSON of a batch, made a part at a time like read: in one go it would take
 * longer than a browser may be kept from answering.
 */
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

/** withoutRow leaves out the rows that have troubles. */
export function withoutRow(read: Read): Row[] {
	const bad = new Set(read.troubles.map((trouble) => trouble.row));
	return read.records.filter((_, index) => !bad.has(index + 1));
}

/** sum is what recharges come to, added up in paise. */
export function sum(records: readonly Row[]): number {
	let paise = 0;
	for (const record of records) {
		if (typeof record.amount === 'number') {
			paise += Math.round(record.amount * 100);
		}
	}
	return paise / 100;
}
