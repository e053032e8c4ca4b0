import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** Certificate is what a receiver on 127.0.0.1 shows: PEM, and the file that a service may trust. */
export interface Certificate {
	file: string;
	cert: string;
	key: string;
}

/** certificate makes one in a folder, with openssl, signed by nobody but itself. */
export async function certificate(folder: string): Promise<Certificate> {
	const [file, keyFile] = [join(folder, 'receiver.pem'), join(folder, 'receiver.key')];
	await promisify(execFile)('openssl', [
		...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'],
		...['-subj', '/CN=receiver', '-addext', 'subjectAltName=IP:127.0.0.1', '-keyout', keyFile, '-out', file],
	]);
	return { file, cert: await readFile(file, 'utf8'), key: await readFile(keyFile, 'utf8') };
}
