//go:build chaos

package chaos

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// Flags of the make targets, which pass them in ARGS and FAULTS.
var (
	dataFlag = flag.String("data", "", "new or empty folder for everything, removed at the end (default: one below that of temporary files)")
	keepFlag = flag.Bool("keep", false, "leave the folder at the end")
	onlyFlag = flag.String("only", "", "prefixes of the names of faults or partitions, with commas (default: all)")
)

// configured returns the configuration of a cluster from the flags. The tests run in the root of the project.
func configured(t *testing.T) Config {
	t.Helper()
	root, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	dir := *dataFlag
	if dir == "" {
		// PostgreSQL does not run as root, and its user cannot reach a folder of t.TempDir.
		if dir, err = os.MkdirTemp("", "vayu-cluster-"); err == nil {
			err = os.Chmod(dir, 0o755)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if dir, err = filepath.Abs(dir); err != nil {
		t.Fatal(err)
	}
	return Config{Root: root, Dir: dir, Keep: *keepFlag}
}

// chosen returns the faults that the flags select.
func chosen(t *testing.T, all []Fault) []Fault {
	t.Helper()
	faults, err := selectFaults(all, strings.FieldsFunc(*onlyFlag, func(c rune) bool { return c == ',' || c == ' ' }))
	if err != nil {
		t.Fatal(err)
	}
	return faults
}

// interruptible returns a context that Ctrl-C ends.
func interruptible(t *testing.T) context.Context {
	t.Helper()
	ctx, stop := signal.NotifyContext(t.Context(), os.Interrupt, syscall.SIGTERM)
	t.Cleanup(stop)
	return ctx
}

// TestFaults injects every fault into a cluster under load.
func TestFaults(t *testing.T) {
	faults := chosen(t, allFaults())
	inject(interruptible(t), t, configured(t), faults)
}

// TestPartitions drops packets between processes of a cluster under load.
func TestPartitions(t *testing.T) {
	if os.Getenv("VAYU_ISOLATED") == "" {
		t.Fatal("this test changes the network: run it with .ci/isolated, as `make partitions` does")
	}
	faults := chosen(t, allPartitions())
	config := configured(t)
	config.Namespaces = true
	inject(interruptible(t), t, config, faults)
}

// TestCluster runs a cluster for interactive use. Ctrl-C ends it without an error, also during the start.
func TestCluster(t *testing.T) {
	ctx, config := interruptible(t), configured(t)
	out := t.Output()
	_, _ = fmt.Fprintln(out, "starting PostgreSQL, three Kafka brokers, ClickHouse and eight instances in", config.Dir, "…")
	c := newCluster(t, config)
	if err := c.serveUser(ctx, out); err != nil && ctx.Err() == nil {
		t.Fatal(err)
	}
	<-ctx.Done()
	_, _ = fmt.Fprintln(out, "stopping …")
}

// serveUser starts the cluster and prints what a user needs to call it.
func (c *Cluster) serveUser(ctx context.Context, out io.Writer) error {
	if err := c.start(ctx); err != nil {
		return err
	}
	live, err := c.NewKey(ctx, "live")
	if err != nil {
		return err
	}
	sandbox, err := c.NewKey(ctx, "test")
	if err != nil {
		return err
	}
	if err := c.Print(out); err != nil {
		return err
	}
	_, _ = fmt.Fprintf(out, `
live     %s  (made-up air of this hour, through the whole of ingest)
sandbox  %s

  curl -H "Authorization: Bearer %s" "%s/v1/aqi?city=Delhi"

The dashboard is %s/dashboard/ (sign in with one of the keys). What each says is in
%s/NAME.log. Ctrl-C ends everything.
`, live, sandbox, live, c.URL, c.URL, c.Dir)
	return nil
}
