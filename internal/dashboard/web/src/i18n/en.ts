import { account } from './en/account';
import { air } from './en/air';
import { shell } from './en/shell';
import { transactions } from './en/transactions';
import { webhooks } from './en/webhooks';

/** Every text of the page in English, by names that begin with the part they are in. */
export const en = { ...shell, ...air, ...account, ...transactions, ...webhooks };
