// Command cluster is the program of `make cluster`, `make faults` and `make partitions`.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"vayu/internal/testing/chaos"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "cluster:", err)
		os.Exit(1)
	}
}

// request is the parsed command line.
type request struct {
	chaos.Config
	only []string // faults or partitions; empty for all
}

// actions are the functions of the commands, by the first argument.
var actions = map[string]func(ctx context.Context, r request) error{
	"up":         up,
	"faults":     faults,
	"partitions": partitions,
	"guard":      func(_ context.Context, r request) error { return chaos.Guard(r.Config, os.Stdin) },
}

func run(ctx context.Context, args []string) error {
	if len(args) == 0 || actions[args[0]] == nil {
		return errors.New("say up, faults or partitions")
	}
	r := request{Config: chaos.Config{Out: os.Stdout}}
	var only string
	f := flag.NewFlagSet(args[0], flag.ContinueOnError)
	f.StringVar(&r.Root, "root", ".", "folder of the project")
	f.StringVar(&r.Dir, "data", "", "new or empty folder for everything, removed at the end (default: one below that of temporary files)")
	f.BoolVar(&r.Keep, "keep", false, "leave the folder at the end")
	f.StringVar(&only, "only", "", "names of faults or partitions, with commas (default: all)")
	if err := f.Parse(args[1:]); err != nil {
		return err
	}
	r.only = strings.FieldsFunc(only, func(c rune) bool { return c == ',' || c == ' ' })
	var err error
	if r.Root, err = filepath.Abs(r.Root); err != nil {
		return fmt.Errorf("finding the project: %w", err)
	}
	if r.Dir == "" {
		// PostgreSQL does not run as root, and its user must be able to reach the folder.
		if r.Dir, err = os.MkdirTemp("", "vayu-cluster-"); err != nil {
			return fmt.Errorf("making a folder: %w", err)
		}
		if err := os.Chmod(r.Dir, 0o755); err != nil { //nolint:gosec // see above
			return fmt.Errorf("making a folder: %w", err)
		}
	}
	if r.Dir, err = filepath.Abs(r.Dir); err != nil {
		return fmt.Errorf("finding the folder: %w", err)
	}
	return outcome(args[0], actions[args[0]](ctx, r))
}

// errInterrupted is the result of an interrupted test run.
var errInterrupted = errors.New("interrupted")

// outcome returns the error to report. Ctrl-C is no error for the command "up", but makes other commands
// fail. Other errors are always reported.
func outcome(action string, err error) error {
	if !errors.Is(err, context.Canceled) {
		return err
	}
	rest := besides(err)
	if action == "up" {
		return rest
	}
	return errors.Join(errInterrupted, rest)
}

// besides returns err without the errors of an interruption.
func besides(err error) error {
	if !errors.Is(err, context.Canceled) {
		return err
	}
	switch e := err.(type) { //nolint:errorlint // each layer is inspected
	case interface{ Unwrap() []error }:
		var rest []error
		for _, one := range e.Unwrap() {
			rest = append(rest, besides(one))
		}
		return errors.Join(rest...)
	case interface{ Unwrap() error }:
		return besides(e.Unwrap())
	}
	return nil
}

// up runs a cluster for interactive use, until Ctrl-C.
func up(ctx context.Context, r request) (err error) {
	_, _ = fmt.Fprintln(r.Out, "starting PostgreSQL, three Kafka brokers, ClickHouse and eight instances in", r.Dir, "…")
	c, err := chaos.Start(ctx, r.Config)
	if err != nil {
		return err
	}
	defer func() {
		_, _ = fmt.Fprintln(r.Out, "stopping …")
		err = errors.Join(err, c.Stop(context.WithoutCancel(ctx)))
	}()
	key, err := c.NewKey(ctx, "live")
	if err != nil {
		return err
	}
	sandbox, err := c.NewKey(ctx, "test")
	if err != nil {
		return err
	}
	if err := c.Print(r.Out); err != nil {
		return err
	}
	_, _ = fmt.Fprintf(r.Out, `
live     %s  (made-up air of this hour, through the whole of ingest)
sandbox  %s

  curl -H "Authorization: Bearer %s" "%s/v1/aqi?city=Delhi"

The dashboard is %s/dashboard/ (sign in with one of the keys). What each says is in
%s/NAME.log. Ctrl-C ends everything.
`, key, sandbox, key, c.URL, c.URL, r.Dir)
	<-ctx.Done()
	return nil
}
