import type { JSX } from 'preact';
import { useEffect, useId, useMemo, useRef, useState } from 'preact/hooks';
import { useLocation } from 'wouter-preact';
import { api, Problem } from '../../api/client';
import { invalidate } from '../../api/queries';
import { number, rupees } from '../../format';
import { t } from '../../i18n';
import { Coded } from '../../ui/Coded';
import { Field } from '../../ui/Field';
import { Form } from '../../ui/Form';
import { Card, Facts, Page } from '../../ui/Page';
import { Tabs } from '../../ui/Tabs';
import { useConfirmation } from '../../ui/useConfirmation';
import { useFilters } from '../../ui/useFilters';
import { recorded } from '../recorded';
import { freshRef } from '../ref';
import { isSandbox } from '../StatusBadge';
import { useBalance } from '../wallet/useBalance';
import { Preview } from './BatchPreview';
import { type Kind, kindOf } from './kind';
import { body, mostBytes, mostRecords, type Parser, type Read, read, sum, withoutRow } from './records';
import '../transactions.css';

const examples: Record<Kind, string> = {
	recharge: 'mobile,amount,operator,type,ref_id\n9000000001,199,auto,prepaid,emp-1\n9000000003,239,Jio,prepaid,emp-2\n',
	verification: 'account_number,ifsc,vpa,name,ref_id\n00112233440001,SBIN0000691,,Asha Rao,payee-1\n,,partial@upi,Meena Iyer,payee-2\n',
};

/**
 * table loads the CSV parser on demand. It reads one record more than a batch may have, to detect an oversized
 * one.
 */
async function table(): Promise<Parser> {
	const { default: Papa } = await import('papaparse');
	return (text) => Papa.parse<string[]>(text, { skipEmptyLines: 'greedy', preview: mostRecords + 2 }).data;
}

/** NewBatchPage reads records from pasted text or a file, shows them with their faults, and sends them. */
export function NewBatchPage(): JSX.Element {
	const [filters] = useFilters(['kind']);
	const kind = kindOf(filters.kind);
	return (
		<Page title={t('batch.new')}>
			<Tabs
				label={t('batch.kind')}
				at={kind}
				tabs={[
					['recharge', '/batches/new?kind=recharge', t('batch.kind.recharge')],
					['verification', '/batches/new?kind=verification', t('batch.kind.verification')],
				]}
			/>
			<BatchForm key={kind} kind={kind} />
		</Page>
	);
}

function BatchForm(props: { kind: Kind }): JSX.Element {
	const { kind } = props;
	const [, navigate] = useLocation();
	const id = useId();
	const [text, setText] = useState('');
	// The content of a file, or a long pasted text, which has no name.
	const [file, setFile] = useState<{ name?: string; text: string }>();
	const chooser = useRef<HTMLInputElement>(null);
	const [ref, setRef] = useState(() => freshRef('batch'));
	const [leave, setLeave] = useState(false);
	const [large, setLarge] = useState(false);
	const found = useRead(kind, file ? file.text : text, ref);
	const wallet = useBalance(kind === 'recharge');
	const records = useMemo(() => (found ? (leave ? withoutRow(found) : found.records) : []), [found, leave]);
	const amount = useMemo(() => sum(records), [records]);
	const blocked = !found || found.whole !== undefined || (found.troubles.length > 0 && !leave) || records.length === 0;
	// An error of the whole text stands at the field that it comes from.
	const wrong = large ? t('batch.wrong.large') : found?.whole && t(found.whole);
	const inFile = wrong !== undefined && (large || file !== undefined) ? true : undefined;
	const inText = wrong !== undefined && !inFile ? true : undefined;
	const [confirm, question] = useConfirmation();
	/** confirmed reports whether the person agrees to recharges with real money. */
	const confirmed = () =>
		confirm({
			title: t('batch.confirm'),
			content: (
				<>
					<p>{t('transactions.confirm.live')}</p>
					<Facts
						of={[
							[t('batch.total'), number(records.length)],
							[t('recharge.amount'), rupees(amount)],
							[t('wallet.available'), wallet.data && rupees(wallet.data.available)],
						]}
					/>
				</>
			),
			button: t('recharge.confirm.do', { amount: rupees(amount) }),
		});
	const send = async () => {
		if (kind === 'recharge' && !isSandbox() && !(await confirmed())) {
			return;
		}
		const whole = await body(kind, records, ref.trim());
		if (whole.size > mostBytes) {
			throw Problem.atField('records', t('batch.wrong.large'));
		}
		// The body is already serialized, so the serializer ignores its argument.
		const init = { body: {} as never, bodySerializer: () => whole };
		const { id: made } = await recorded<unknown>(
			kind === 'recharge' ? api.POST('/v1/recharge/batch', init) : api.POST('/v1/verification/batch', init),
			'batch_id',
		);
		invalidate('batches');
		navigate(`/batches/${made}`);
	};
	// The browser needs a second to lay out ten thousand lines. A long text is stored like a file instead and not
	// shown.
	const pasted = (event: InputEvent & { currentTarget: HTMLTextAreaElement }) => {
		const box = event.currentTarget;
		const whole = box.value.slice(0, box.selectionStart) + (event.data ?? '') + box.value.slice(box.selectionEnd);
		if (whole.length > mostShown) {
			event.preventDefault();
			setFile({ text: whole });
		}
	};
	const drop = () => {
		setFile(undefined);
		if (chooser.current) {
			// Reset the input, so that the same file can be chosen again.
			chooser.current.value = '';
		}
	};
	const choose = async (chosen: File | undefined) => {
		const fits = chosen !== undefined && chosen.size <= mostBytes;
		setLarge(chosen !== undefined && !fits);
		setFile(fits ? { name: chosen.name, text: await chosen.text() } : undefined);
	};
	return (
		<>
			{question}
			<Form submit={send} button={t('batch.send')} tone="primary" disabled={blocked}>
				<Card>
					<p>
						<Coded text={t(`batch.how.${kind}`)} />
						<br />
						<Coded text={t(`batch.more.${kind}`)} />
					</p>
					<div class="field">
						<label for={`${id}-file`}>{t('batch.file')}</label>
						<input
							ref={chooser}
							id={`${id}-file`}
							type="file"
							accept=".csv,.json,.ndjson,.txt,text/csv,application/json"
							aria-invalid={inFile}
							aria-describedby={`${id}-limits ${id}-file-wrong`}
							onChange={(event) => void choose(event.currentTarget.files?.[0])}
						/>
						<p class="hint" id={`${id}-limits`}>
							{t('batch.limits')}
						</p>
						<p class="wrong" role="alert" id={`${id}-file-wrong`}>
							{inFile && wrong}
						</p>
					</div>
					{file ? (
						<p class="note">
							{file.name === undefined ? t('batch.from.pasted', { count: number(file.text.length) }) : t('batch.from', { name: file.name })}{' '}
							<button type="button" class="small" onClick={drop}>
								{t('batch.unfile')}
							</button>
						</p>
					) : (
						<div class="field">
							<label for={`${id}-text`}>{t('batch.text')}</label>
							<textarea
								id={`${id}-text`}
								rows={8}
								wrap="off"
								spellcheck={false}
								aria-invalid={inText}
								aria-describedby={`${id}-text-wrong`}
								value={text}
								onBeforeInput={pasted}
								onInput={(event) => setText(event.currentTarget.value)}
							/>
							<p class="wrong" role="alert" id={`${id}-text-wrong`}>
								{inText && wrong}
							</p>
							<div class="actions">
								<button type="button" class="small" onClick={() => setText(examples[kind])}>
									{t('batch.example')}
								</button>
								<button type="button" class="small quiet" disabled={text === ''} onClick={() => setText('')}>
									{t('action.reset')}
								</button>
							</div>
						</div>
					)}
					<Field
						label={t('transactions.ref')}
						hint={t('batch.ref.hint')}
						name="ref_id"
						maxLength={200}
						required
						value={ref}
						change={setRef}
					/>
				</Card>
				{found && !found.whole && <Preview kind={kind} found={found} leave={leave} setLeave={setLeave} />}
				<Card>
					<p role="status">
						{blocked
							? t(found && found.troubles.length > 0 ? 'batch.blocked' : 'batch.notyet')
							: kind === 'recharge'
								? t('batch.ready.recharge', { count: number(records.length), amount: rupees(amount) })
								: t('batch.ready.verification', { count: number(records.length) })}
					</p>
					{kind === 'recharge' && wallet.data && <p class="hint">{t('recharge.balance', { amount: rupees(wallet.data.available) })}</p>}
					{kind === 'recharge' && wallet.data && !blocked && amount > wallet.data.available && <p class="wrong">{t('batch.poor')}</p>}
				</Card>
			</Form>
		</>
	);
}

/** mostShown is the maximum length of an editable text in characters, about five hundred lines. */
const mostShown = 20_000;

/** still is the time without input after which a text is parsed, in milliseconds. */
const still = 300;

/** useRead parses a text after the input stops. The result is undefined without a text, and while the text is parsed. */
function useRead(kind: Kind, text: string, ref: string): Read | undefined {
	const [found, setFound] = useState<Read>();
	useEffect(() => {
		setFound(undefined);
		if (text.trim() === '') {
			return undefined;
		}
		let over = false;
		const timer = setTimeout(async () => {
			const got = await read(kind, text, ref.trim(), await table());
			if (!over) {
				setFound(got);
			}
		}, still);
		return () => {
			over = true;
			clearTimeout(timer);
		};
	}, [kind, text, ref]);
	return found;
}
