import { cleanup, configure } from '@testing-library/preact';
import { afterEach, vi } from 'vitest';

// Wait long, because a busy machine is slow. A test that hangs ends after two minutes.
configure({ asyncUtilTimeout: 60_000 });

afterEach(() => {
	cleanup();
	vi.restoreAllMocks();
});
