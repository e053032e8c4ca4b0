package encryption

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"vayu/internal/config"
	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
)

// childVariable makes the test binary a child that rotates a key and is killed. It holds the
// moment, the directory of the key, and the server, if any.
const childVariable = "VAYU_TEST_SEAL_CHILD"

func TestMain(m *testing.M) {
	if text := os.Getenv(childVariable); text != "" {
		fmt.Fprintln(os.Stderr, rotateUntilKilled(strings.Split(text, "\n")))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// rotateUntilKilled returns only if it was not killed.
func rotateUntilKilled(args []string) error {
	moment, dir, server := args[0], args[1], args[2]
	db, err := sqlstore.Open(sqlstore.Config{Data: dir, DSN: config.DSN(server)}, nil, nil)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- db.Run(ctx); cancel() }()
	if err := db.Ready(ctx); err != nil {
		return errors.Join(err, <-ended)
	}
	_, err = Rotate(ctx, db, Rotation{Dir: dir, Columns: testColumns, at: func(at string) {
		if at == moment {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
	}})
	return fmt.Errorf("it was not killed: %w", err)
}

// A rotation that is killed at any moment leaves a readable store, and the next rotation succeeds.
func TestAKilledRotationLosesNothing(t *testing.T) {
	t.Parallel()
	for name, place := range map[string]func(t *testing.T) sqlstore.Config{
		"sqlite": func(t *testing.T) sqlstore.Config { t.Helper(); return sqlstore.Config{Data: t.TempDir()} },
		"postgres": func(t *testing.T) sqlstore.Config {
			t.Helper()
			return sqlstore.Config{DSN: sqlstoretest.PostgresDSN(t)}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := place(t)
			dir := t.TempDir()
			if c.Data != "" {
				dir = c.Data
			}
			db, stop := sqlstoretest.Start(t, c)
			b := mustClaim(t, db, config.Secret{}, dir)
			fill(t, db, b)
			digest, id := b.Digest("account", []byte("1")), b.KeyID()
			for _, moment := range []string{atStart, atWritten, atReencrypting, atCommitted, atPlaced} {
				stop()
				killAt(t, moment, dir, string(c.DSN))
				db, stop = sqlstoretest.Start(t, c)
				b = mustClaim(t, db, config.Secret{}, dir)
				wantWhole(t, db, b)
				if got := b.Digest("account", []byte("1")); !bytes.Equal(got, digest) {
					t.Errorf("killed at %s: the digest is %x and was %x", moment, got, digest)
				}
				if committed := moment == atCommitted || moment == atPlaced; committed != (b.KeyID() != id) {
					t.Errorf("killed at %s: the key is %s and was %s", moment, b.KeyID(), id)
				}
				if _, err := Rotate(t.Context(), db, Rotation{Dir: dir, Columns: testColumns}); err != nil {
					t.Fatalf("after one that was killed at %s: %v", moment, err)
				}
				b = mustClaim(t, db, config.Secret{}, dir)
				wantWhole(t, db, b)
				wantOneKey(t, dir)
				id = b.KeyID()
			}
		})
	}
}

// killAt runs a rotation in a process that is killed at a moment.
func killAt(t *testing.T, moment, dir, server string) {
	t.Helper()
	child := exec.CommandContext(t.Context(), os.Args[0])
	child.Env = append(os.Environ(), childVariable+"="+strings.Join([]string{moment, dir, server}, "\n"))
	output, err := child.CombinedOutput()
	var ended *exec.ExitError
	if !errors.As(err, &ended) {
		t.Fatalf("%s: %v\n%s", moment, err, output)
	}
	if !ended.Sys().(syscall.WaitStatus).Signaled() {
		t.Fatalf("%s: %v, want a signal\n%s", moment, ended, output)
	}
	if _, err := os.Stat(filepath.Join(dir, keyName)); err != nil {
		t.Errorf("%s: there is no key file: %v", moment, err)
	}
}
