import { account } from './en/account';
import { air } from './en/air';
import { alerts } from './en/alerts';
import { shell } from './en/shell';
import { transactions } from './en/transactions';
import { webhooks } from './en/webhooks';

/** The English texts. The first part of a name is the section that uses it. */
export const en = { ...shell, ...air, ...alerts, ...account, ...transactions, ...webhooks };
