import { cleanup, configure } from '@testing-library/preact';
import { afterEach, vi } from 'vitest';

// Wait long, because a busy machine is slow. A test that hangs ends after a minute.
configure({ asyncUtilTimeout: 20_000 });

afterEach(() => {
	cleanup();
	vi.restoreAllMocks();
});
