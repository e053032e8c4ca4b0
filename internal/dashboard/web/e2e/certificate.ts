import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** Certificate is the PEM certificate and key of receivers on 127.0.0.1, and the file that the service trusts. */
export interface Certificate {
	file: string;
	cert: string;
	key: string;
}

/** certificate creates a self-signed certificate in a folder with openssl. */
export async function certificate(folder: string): Promise<Certificate> {
	const [file, keyFile] = [join(folder, 'receiver.pem'), join(folder, 'receiver.key')];
	await promisify(execFile)('openssl', [
		...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'],
		...['-subj', '/CN=receiver', '-addext', 'subjectAltName=IP:127.0.0.1', '-keyout', keyFile, '-out', file],
	]);
	return { file, cert: await readFile(file, 'utf8'), key: await readFile(keyFile, 'utf8') };
}
