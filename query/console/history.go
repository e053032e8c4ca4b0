package console

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/peterh/liner"
)

// history is the file of earlier statements, one in each line. With a nil file, no statements are stored.
type history struct {
	file *os.File
	line *liner.State
}

// historySize is the size in bytes, some ten thousand statements, above which openHistory drops the file's first half.
const historySize = 1 << 20

// HistoryFile returns the file of the history in the user's data directory; "" if the user has none.
func HistoryFile() string {
	if dir := os.Getenv("XDG_DATA_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "vayu", "sql_history")
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	return filepath.Join(home, ".local", "share", "vayu", "sql_history")
}

// openHistory reads the file `path` into the prompt, and opens the file for further statements. Only its owner can
// read the file, because statements may contain names and numbers of people.
func openHistory(path string, line *liner.State) (*history, error) {
	h := &history{line: line}
	if path == "" {
		return h, nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return h, fmt.Errorf("making the folder of the history: %w", err)
	}
	text, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		return h, fmt.Errorf("reading the history: %w", err)
	}
	if len(text) > historySize {
		text = text[len(text)/2:]
		if err := os.WriteFile(path, text, 0o600); err != nil { //nolint:gosec // the path is the user's own
			return h, fmt.Errorf("shortening the history: %w", err)
		}
	}
	if _, err := line.ReadHistory(strings.NewReader(string(text))); err != nil {
		return h, fmt.Errorf("reading the history: %w", err)
	}
	h.file, err = os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return h, fmt.Errorf("opening the history: %w", err)
	}
	return h, h.file.Chmod(0o600)
}

// oneLine joins the lines of a statement to one line for the history. It returns "" if joining could change the
// statement: if a line may have a comment, which ends with its line, or if a string may span several lines.
func oneLine(lines []string) string {
	for len(lines) > 1 && strings.TrimSpace(lines[len(lines)-1]) == "" { // the empty line that ended the input
		lines = lines[:len(lines)-1]
	}
	for _, line := range lines[:len(lines)-1] {
		for _, quote := range []string{"'", `"`, "`"} {
			if strings.Count(line, quote)%2 == 1 {
				return ""
			}
		}
		if strings.ContainsAny(line, `\#$`) || strings.Contains(line, "--") || strings.Contains(line, "//") {
			return ""
		}
	}
	return strings.TrimSpace(strings.Join(lines, " "))
}

// add appends a statement in one line to the history. It does nothing for "".
func (h *history) add(text string) {
	if text == "" {
		return
	}
	h.line.AppendHistory(text)
	if h.file != nil {
		_, _ = fmt.Fprintln(h.file, text) // the statement runs even if this fails
	}
}

func (h *history) close() {
	if h.file != nil {
		_ = h.file.Close()
	}
}
