import { cleanup, configure } from '@testing-library/preact';
import { afterEach, vi } from 'vitest';

// A busy machine may take its time; a test that hangs ends after a minute.
configure({ asyncUtilTimeout: 20_000 });

afterEach(() => {
	cleanup();
	vi.restoreAllMocks();
});
