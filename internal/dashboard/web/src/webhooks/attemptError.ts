import type { Schemas } from '../api/client';
import { number } from '../format';
import { type Key, t } from '../i18n';

type Failure = Pick<Schemas['Attempt'], 'error' | 'http_status'>;

// The texts of dispatch/sender. A test compares them.
const texts: Readonly<Record<string, Key>> = {
	'the URL of the subscription cannot be used': 'webhooks.error.url',
	'the attempt was aborted because the service stopped': 'webhooks.error.stopped',
	'the address is not public, or the port is not allowed': 'webhooks.error.address',
	'the host name has no public address, or the port is not allowed': 'webhooks.error.noname',
	'the host name could not be resolved': 'webhooks.error.name',
	'the receiver refused the connection': 'webhooks.error.refused',
	'the receiver cannot be reached': 'webhooks.error.noroute',
	'the certificate is not valid for this host name': 'webhooks.error.host',
	'the certificate is not signed by a known authority, or its chain is incomplete': 'webhooks.error.authority',
	'the certificate has expired or is not valid yet': 'webhooks.error.expired',
	'the certificate is not valid': 'webhooks.error.certificate',
	'the receiver does not use TLS on this port': 'webhooks.error.notls',
	'the receiver refused the TLS handshake; TLS 1.2 or 1.3 and HTTP/1.1 are needed': 'webhooks.error.alert',
	'the TLS handshake failed': 'webhooks.error.handshake',
	'the receiver closed the connection in the TLS handshake': 'webhooks.error.cut',
	'the receiver closed the connection without an answer': 'webhooks.error.closed',
	'the header of the answer is larger than 64 KiB': 'webhooks.error.header',
	'the answer is not HTTP/1.1': 'webhooks.error.nohttp',
	'the request could not be created': 'webhooks.error.request',
	'the receiver did not accept the connection': 'webhooks.error.slow.connect',
	'the TLS handshake was not finished': 'webhooks.error.slow.tls',
	'the receiver did not read the request': 'webhooks.error.slow.write',
	'the receiver did not answer': 'webhooks.error.slow.wait',
};

/** statusOf returns the status of an answer with its name, such as "500 Internal Server Error"; '' if there was no answer. */
export function statusOf({ error, http_status }: Failure): string {
	return http_status === null ? '' : (/^the receiver answered ([^;]*)/.exec(error)?.[1] ?? String(http_status));
}

/** attemptError returns the reason for the failure of an attempt in the current language. The API names it in English. */
export function attemptError(failure: Failure): string {
	const { error } = failure;
	const redirect = error.endsWith('; redirects are not followed');
	if (/^the receiver answered \d/.test(error)) {
		return t(redirect ? 'webhooks.error.redirect' : 'webhooks.error.answered', { status: statusOf(failure) });
	}
	const [, text = error, seconds] = /^(.*) within ([\d.]+)s$/.exec(error) ?? [];
	const key = texts[text];
	if (!key) {
		return error;
	}
	return seconds === undefined ? t(key) : t('webhooks.error.within', { cause: t(key), time: number(Number(seconds)) });
}
