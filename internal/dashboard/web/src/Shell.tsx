import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Link, useLocation } from 'wouter-preact';
import { ModeSwitch } from './account/ModeSwitch';
import { isConnected, isLost } from './api/liveStream';
import { type Language, language, showLanguage, t } from './i18n';
import { groups, isAllowed, isCurrent } from './routes';
import { hasScope, sessionState, signOut } from './session';
import { type Theme, theme } from './theme';
import { Form } from './ui/Form';
import { type Zone, zone } from './zone';

/** About says what the service is, and links to its API reference. */
function About(): JSX.Element {
	return (
		<header class="about">
			<p class="brand">
				<img src="/dashboard/icon.svg" alt="" width={28} height={28} /> Vayu
			</p>
			<p>{t('signin.about')}</p>
			<p>
				<a href="/docs">{t('shell.docs')}</a>
			</p>
		</header>
	);
}

/** Choices switches the language, the colour scheme and the time zone. */
function Choices(): JSX.Element {
	return (
		<div class="choices">
			<label>
				<span>{t('shell.language')}</span>
				<select value={language.value} onChange={(event) => void showLanguage(event.currentTarget.value as Language)}>
					<option value="en" lang="en">
						English
					</option>
					<option value="hi" lang="hi">
						हिन्दी
					</option>
				</select>
			</label>
			<label>
				<span>{t('shell.theme')}</span>
				<select value={theme.value} onChange={(event) => (theme.value = event.currentTarget.value as Theme)}>
					<option value="system">{t('shell.theme.system')}</option>
					<option value="light">{t('shell.theme.light')}</option>
					<option value="dark">{t('shell.theme.dark')}</option>
				</select>
			</label>
			<label>
				<span>{t('shell.zone')}</span>
				<select value={zone.value} onChange={(event) => (zone.value = event.currentTarget.value as Zone)}>
					<option value="Asia/Kolkata">{t('shell.zone.india')}</option>
					<option value="UTC">UTC</option>
				</select>
			</label>
		</div>
	);
}

/** Alone is the frame of a page without a session: what the service is, a card with a heading, and the choices of the page. */
export function Alone(props: { title: string; children: ComponentChildren }): JSX.Element {
	return (
		<main class="alone">
			<About />
			<div class="card">
				<h1>{props.title}</h1>
				{props.children}
			</div>
			<Choices />
		</main>
	);
}

/**
 * Shell is the frame of every page: navigation, the account, the mode (live or sandbox) and the state of the SSE
 * stream.
 */
export function Shell(props: { children: ComponentChildren }): JSX.Element {
	const [open, setOpen] = useState<'menu' | 'account'>();
	const toggle = (part: 'menu' | 'account') => setOpen(open === part ? undefined : part);
	const [location] = useLocation();
	useEffect(() => setOpen(undefined), [location]);
	const now = sessionState.value;
	if (now.at !== 'in') {
		return <main>{props.children}</main>;
	}
	const { account, member, mode } = now.current;
	const live = t(isConnected.value ? 'shell.connected' : 'shell.disconnected');
	return (
		<div class="shell">
			<a class="skip" href="#content">
				{t('shell.skip')}
			</a>
			<header class="bar">
				<button
					type="button"
					class="menu"
					aria-label={t('shell.menu')}
					aria-expanded={open === 'menu'}
					aria-controls="nav"
					onClick={() => toggle('menu')}
				>
					<svg viewBox="0 0 24 24" width={24} height={24} aria-hidden="true">
						<path d="M4 6h16M4 12h16M4 18h16" />
					</svg>
				</button>
				<Link href="/home" class="brand">
					Vayu
				</Link>
				<ModeSwitch of={now.current} />
				<div class="me">
					<button
						type="button"
						aria-label={t('shell.account.of', { name: account.name })}
						aria-expanded={open === 'account'}
						aria-controls="account"
						onClick={() => toggle('account')}
					>
						<svg viewBox="0 0 24 24" width={24} height={24} aria-hidden="true">
							<circle cx={12} cy={8} r={4} />
							<path d="M4 20a8 6 0 0 1 16 0" />
						</svg>
					</button>
					<span class={`pulse ${isConnected.value ? 'on' : 'off'}`} role="status" title={live}>
						<span class="unseen">{live}</span>
					</span>
					<div id="account" class={`me-panel ${open === 'account' ? 'open' : ''}`}>
						<span class="account-state" aria-hidden="true">
							{isConnected.value && live}
						</span>
						<span class="account">{member ? `${account.name} · ${member.email}` : account.name}</span>
						<Form submit={() => signOut(false)} button={t('shell.signout')} tone="quiet" />
					</div>
				</div>
			</header>
			<nav id="nav" class={open === 'menu' ? 'open' : ''} aria-label={t('shell.nav')}>
				{groups
					.map(({ name, entries }) => ({ name, entries: entries.filter((entry) => isAllowed(entry, hasScope)) }))
					.filter(({ entries }) => entries.length > 0)
					.map((group) => (
						<section key={group.name}>
							<h2>{t(group.name)}</h2>
							<ul>
								{group.entries.map((entry) => (
									<li key={entry.to}>
										<Link href={entry.to} aria-current={isCurrent(location, entry) ? 'page' : undefined}>
											{t(entry.name)}
										</Link>
									</li>
								))}
							</ul>
						</section>
					))}
				<a href="/docs">{t('shell.docs')}</a>
				<Choices />
			</nav>
			<main id="content" class="flow" tabIndex={-1}>
				{isLost.value && (
					<p class="note lost" aria-hidden="true">
						{t('shell.disconnected')}
					</p>
				)}
				{mode === 'sandbox' && <p class="sandbox-note">{t('shell.sandbox.note')}</p>}
				{props.children}
			</main>
		</div>
	);
}
