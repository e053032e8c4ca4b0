import { render, screen, within } from '@testing-library/preact';
import { expect, test } from 'vitest';
import { Preview } from './BatchPreview';

const good = { mobile: '9000000001', amount: 199, operator: 'auto', type: 'prepaid', ref_id: 'r-1' };
const cheap = { ...good, amount: 5, ref_id: 'r-2' };

test('a record with a problem stands beside the problem, with the wrong value marked, and is not in the preview', () => {
	const found = { records: [good, cheap], troubles: [{ row: 2, says: 'batch.wrong.amount', value: '5' } as const] };
	const { container } = render(<Preview kind="recharge" found={found} leave={false} setLeave={() => undefined} />);
	const problems = within(screen.getByRole('region', { name: 'Problems by record' }));
	expect(problems.getByText('r-2')).toBeTruthy();
	expect(problems.getByText(/^The amount is a number from 10/)).toBeTruthy();
	expect([...container.querySelectorAll('mark')].map((one) => one.textContent)).toEqual(['5']);
	const preview = within(screen.getByRole('region', { name: 'The first records as they would be sent' }));
	expect(preview.getByText('r-1')).toBeTruthy();
	expect(preview.queryByText('r-2')).toBeNull();
	expect(screen.getByText('Preview: 1 records')).toBeTruthy();
	expect(screen.getAllByRole('listitem').map((part) => part.textContent)).toEqual(['1 Ready to send', '1 With a problem']);
});

test('a value that no column shows stands beside its problem', () => {
	const found = { records: [good, { value: 'text' }], troubles: [{ row: 2, says: 'batch.wrong.object', value: '"text"' } as const] };
	render(<Preview kind="recharge" found={found} leave={false} setLeave={() => undefined} />);
	expect(screen.getByText('"text"')).toBeTruthy();
});
