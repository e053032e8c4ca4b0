package console

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"sync"
	"time"

	"github.com/dustin/go-humanize"
	"golang.org/x/term"
)

// marks matches the comments in which a statement contains its mark (see newMark).
var marks = regexp.MustCompile(`\n?-- vayu-sql-[A-Z0-9]{16}`)

// newMark returns a text by which a statement is found in system.processes. The embedded engine has no query ids.
func newMark() string { return "vayu-sql-" + rand.Text()[:16] }

// progressPause is the time between two queries for a statement's progress. A faster statement shows no progress.
const progressPause = 400 * time.Millisecond

// watch shows the progress of the statement with the given mark. The function `stop` ends the display and removes it.
func (c *Console) watch(ctx context.Context, mark string) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		c.showProgress(ctx, mark)
	}()
	return sync.OnceFunc(func() { cancel(); <-done })
}

func (c *Console) showProgress(ctx context.Context, mark string) {
	observer := *c
	if c.Watch != nil {
		observer.HTTP = c.Watch
	}
	tick := time.NewTicker(progressPause)
	defer tick.Stop()
	began, shown := time.Now(), false
	defer func() {
		if shown {
			_, _ = fmt.Fprint(c.Err, "\r\x1b[K")
		}
	}()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		rows, err := observer.rows(ctx, "SELECT sum(read_rows), sum(read_bytes), sum(total_rows_approx) FROM system.processes WHERE endsWith(query, '"+mark+"')")
		if err != nil || len(rows) != 1 || len(rows[0]) != 3 {
			continue
		}
		_, _ = fmt.Fprint(c.Err, "\r\x1b[K", progressLine(rows[0], time.Since(began)))
		shown = true
	}
}

// progressLine returns a text about the progress of a statement. `fields` are the rows read, the bytes read, and
// the number of all rows. `elapsed` is the time since the start.
func progressLine(fields []string, elapsed time.Duration) string {
	var n [3]float64
	for i := range n {
		n[i], _ = strconv.ParseFloat(fields[i], 64) // the engine sends numbers
	}
	line := fmt.Sprintf("%s rows, %s, %s rows/s", count(n[0]), humanize.Bytes(uint64(n[1])), count(n[0]/elapsed.Seconds()))
	if n[2] > n[0] {
		line += fmt.Sprintf(", %.0f %%", 100*n[0]/n[2])
	}
	return line
}

// count returns a number with a decimal prefix, such as 2.3 M.
func count(n float64) string {
	if n < 1000 {
		return strconv.Itoa(int(n))
	}
	return humanize.SIWithDigits(n, 1, "")
}

func isTerminal(file *os.File) bool { return term.IsTerminal(int(file.Fd())) }
