import Papa from 'papaparse';
import { expect, test } from 'vitest';
import { body, mostRecords, type Parser, read, sum, withoutRow } from './records';

const parse: Parser = (text) => Papa.parse<string[]>(text, { skipEmptyLines: 'greedy', preview: mostRecords + 2 }).data;

test('a table becomes recharges, and optional columns may be missing', async () => {
	const got = await read(
		'recharge',
		'\uFEFFMobile Number,Amount,Ref ID\r\n98765 43210,"1,000.50",a-1\r\n\r\n9000000001,199,\r\n',
		'batch-1',
		parse,
	);
	expect(got.troubles).toEqual([]);
	expect(got.records).toEqual([
		{ mobile: '98765 43210', amount: 1000.5, ref_id: 'a-1', type: 'prepaid', operator: 'auto' },
		{ mobile: '9000000001', amount: 199, ref_id: 'batch-1-2', type: 'prepaid', operator: 'auto' },
	]);
	expect(sum(got.records)).toBe(1199.5);
});

test('a table becomes verifications; leading zeros stay', async () => {
	const got = await read(
		'verification',
		'account_number;ifsc;vpa;name;tolerance\n00112233440001;SBIN0000691;;"Rao; Asha";60\n;;asha@upi;;strict\n',
		'b',
		parse,
	);
	expect(got.troubles).toEqual([]);
	expect(got.records).toEqual([
		{ account_number: '00112233440001', ifsc: 'SBIN0000691', name: 'Rao; Asha', name_match_tolerance: 60, ref_id: 'b-1' },
		{ vpa: 'asha@upi', name_match_tolerance: 'strict', ref_id: 'b-2' },
	]);
});

test('each invalid record has a fault, and the others stay', async () => {
	const table = [
		'mobile,amount,type,operator,ref_id',
		'9000000001,199,prepaid,auto,a',
		'12345,199,prepaid,auto,b',
		'9000000001,5,prepaid,auto,c',
		'9000000001,199,postpaid,auto,d',
		'1023456789,350.5,dth,,e',
		'9.19E+11,199,prepaid,auto,f',
		'9000000002,199,prepaid,auto,a',
		'9000000002,10.001,prepaid,auto,h',
	].join('\n');
	const got = await read('recharge', table, 'b', parse);
	expect(got.troubles.map((trouble) => [trouble.row, trouble.says])).toEqual([
		[2, 'batch.wrong.mobile'],
		[3, 'batch.wrong.amount'],
		[4, 'batch.wrong.type'],
		[5, 'batch.wrong.operator'],
		[6, 'batch.wrong.spreadsheet'],
		[7, 'batch.wrong.twice'],
		[8, 'batch.wrong.amount'],
	]);
	expect(withoutRow(got).map((record) => record.ref_id)).toEqual(['a']);
});

test('verifications are checked', async () => {
	const got = await read(
		'verification',
		JSON.stringify([
			{ account_number: '123', ifsc: 'SBIN0000691' },
			{ account_number: 112233440001, ifsc: 'SBIN0000691' },
			{ account_number: '112233440001', ifsc: 'SBIN' },
			{ vpa: 'no-address' },
			{},
			7,
			{ vpa: ' a.b@upi ', name: 'आशा' },
			{ vpa: 'a.b@upi', name: '=1+1' },
		]),
		'b',
		parse,
	);
	expect(got.troubles.map((trouble) => trouble.says)).toEqual([
		'batch.wrong.account',
		'batch.wrong.account',
		'batch.wrong.ifsc',
		'batch.wrong.vpa',
		'batch.wrong.either',
		'batch.wrong.object',
		'batch.wrong.name',
	]);
});

test('JSON can be an array, a request body, or lines', async () => {
	const one = { mobile: '9000000001', amount: 199, type: 'prepaid', operator: 'auto', ref_id: 'a' };
	for (const text of [JSON.stringify([one]), JSON.stringify({ recharges: [one] }), JSON.stringify(one), `${JSON.stringify(one)}\n\n`]) {
		expect(await read('recharge', text, 'b', parse)).toEqual({ records: [one], troubles: [] });
	}
	expect((await read('recharge', '[{"a":1}', 'b', parse)).whole).toBe('batch.wrong.json');
});

test('a text can be invalid as a whole', async () => {
	expect((await read('recharge', '  \n', 'b', parse)).whole).toBe('batch.wrong.empty');
	expect((await read('recharge', 'mobile,amount', 'b', parse)).whole).toBe('batch.wrong.empty');
	expect((await read('recharge', 'a,b\n1,2', 'b', parse)).whole).toBe('batch.wrong.names.recharge');
	const many = `mobile,amount\n${'9000000001,199\n'.repeat(mostRecords + 1)}`;
	expect((await read('recharge', many, 'b', parse)).whole).toBe('batch.wrong.many');
});

test('the body of a batch contains its records, whatever their number', async () => {
	for (const count of [1, 999, 1000, 1001, 2500]) {
		const records = Array.from({ length: count }, (_, i) => ({ mobile: '9000000001', ref_id: `आ"${i}` }));
		expect(JSON.parse(await (await body('recharge', records, 'a "b"')).text())).toEqual({ ref_id: 'a "b"', recharges: records });
	}
	const one = await body('verification', [{ vpa: 'a@upi' }], 'b');
	expect(JSON.parse(await one.text())).toEqual({ ref_id: 'b', records: [{ vpa: 'a@upi' }] });
});
