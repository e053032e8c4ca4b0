package console

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"time"

	"github.com/peterh/liner"

	"vayu/internal/columnstore/embedded"
)

const help = `A statement ends with ; and may have several lines. An empty line sends it as well.
Tab completes names of tables, columns, functions and words of SQL. Ctrl-C cancels a statement. Ctrl-D ends.
SHOW TABLES lists the tables, DESCRIBE name describes one. exit, quit and \q end.
`

// Prompt reads statements from the terminal of the process and runs them, until the input ends or ctx is done. It shows
// the error of a statement and continues. `history` is the path of the file of earlier statements; "" for none.
func (c Config) Prompt(ctx context.Context, history string) error {
	console, err := New(ctx, c)
	if err != nil {
		return err
	}
	return console.prompt(ctx, history)
}

func (c *Console) prompt(ctx context.Context, history string) error {
	cooked, err := liner.TerminalMode()
	if err != nil {
		return fmt.Errorf("reading the mode of the terminal: %w", err)
	}
	line := liner.NewLiner()
	defer func() { _ = line.Close() }()
	raw, err := liner.TerminalMode()
	if err != nil {
		return fmt.Errorf("reading the mode of the terminal: %w", err)
	}
	line.SetCtrlCAborts(true)
	line.SetMultiLineMode(true)
	line.SetTabCompletionStyle(liner.TabPrints)
	words := &completion{console: c}
	line.SetWordCompleter(func(text string, pos int) (string, []string, string) { return words.complete(ctx, text, pos) })
	past, err := openHistory(history, line)
	if err != nil {
		_, _ = fmt.Fprintf(c.Err, "The history is not kept: %v\n", err)
	}
	defer past.close()
	for ctx.Err() == nil {
		text, err := c.read(line, past)
		if errors.Is(err, io.EOF) {
			_, _ = fmt.Fprintln(c.Out)
			return nil
		}
		if err != nil {
			return fmt.Errorf("reading the terminal: %w", err)
		}
		switch strings.ToLower(strings.Trim(text, "; \t\n")) {
		case "":
			continue
		case "exit", "quit", `\q`:
			return nil
		case "help", `\h`, "?":
			_, _ = fmt.Fprint(c.Out, help)
			continue
		}
		_ = cooked.ApplyMode() // Ctrl-C is a signal while a statement runs
		c.interactive(ctx, text)
		_ = raw.ApplyMode()
		words.forget(text)
	}
	return nil
}

// read reads lines until a semicolon ends the last statement, or a line is empty. Ctrl-C discards the lines.
func (c *Console) read(line *liner.State, past *history) (string, error) {
	var lines []string
	for {
		prompt := c.Database + "> "
		if len(lines) > 0 {
			prompt = strings.Repeat(" ", max(0, len(prompt)-len("-> "))) + "-> "
		}
		next, err := line.Prompt(prompt)
		switch {
		case errors.Is(err, liner.ErrPromptAborted):
			lines = nil
			continue
		case err != nil:
			return "", err
		}
		lines = append(lines, next)
		text := strings.TrimSpace(strings.Join(lines, "\n"))
		if strings.TrimSpace(next) == "" || ended(text) {
			past.add(oneLine(lines))
			return text, nil
		}
	}
}

// ended reports whether `text` is complete: its last statement ends with a semicolon, or it is a command of the
// prompt such as exit.
func ended(text string) bool {
	switch strings.ToLower(text) {
	case "exit", "quit", `\q`, "help", `\h`, "?":
		return true
	}
	all := embedded.Split(text)
	return len(all) > 0 && all[len(all)-1].Ended
}

// interactive runs statements until they end or the user presses Ctrl-C.
func (c *Console) interactive(ctx context.Context, text string) {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt)
	defer stop()
	began := time.Now()
	if err := c.Run(ctx, text, nil); err != nil {
		_, _ = fmt.Fprintln(c.Err, err)
		return
	}
	_, _ = fmt.Fprintf(c.Err, "(%.3f s)\n", time.Since(began).Seconds())
}
