import type { en } from './en';
import { account } from './hi/account';
import { air } from './hi/air';
import { alerts } from './hi/alerts';
import { shell } from './hi/shell';
import { transactions } from './hi/transactions';
import { webhooks } from './hi/webhooks';

export { cities } from './hi/cities';
export { meanings } from './hi/meanings';
export { states } from './hi/states';

/** The Hindi texts. */
export const hi: Record<keyof typeof en, string> = { ...shell, ...air, ...alerts, ...account, ...transactions, ...webhooks };
