package chaos

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
)

// Command runs a command of vayu while the cluster runs, and returns its standard output. An
// error includes its standard error.
func (c *Cluster) Command(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, c.program(), args...) //nolint:gosec // the program under test
	cmd.Env, cmd.Dir = append(c.environment(), "VAYU_DATA="+c.Dir, "VAYU_STATE="+c.DSN), c.Dir
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return string(out), fmt.Errorf("vayu %s: %w: %s%s", strings.Join(args, " "), err, out, stderr.String())
	}
	return strings.TrimSpace(string(out)), nil
}

// NewKey creates a key with every scope, of an account without limits, for the mode live or test.
func (c *Cluster) NewKey(ctx context.Context, mode string) (string, error) {
	return c.Command(ctx, "key", "create", "--mode", mode, "--plan", "unlimited", "--scopes", "all", "--quiet")
}
