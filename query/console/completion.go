package console

import (
	"context"
	"slices"
	"strings"
	"time"
)

// completion completes the word before the cursor. It loads the names from the server at its first use, and again after
// a statement that may have changed them.
type completion struct {
	console *Console
	names   []string
}

// completionTime limits the time for loading the names, so that a busy server does not block the prompt.
const completionTime = 3 * time.Second

// completionNames selects the names that completion offers: first those of the database, then functions and keywords
// of SQL.
const completionNames = `SELECT name FROM (
	SELECT 1 AS place, name FROM system.columns WHERE database = currentDatabase()
	UNION ALL SELECT 2, name FROM system.tables WHERE database = currentDatabase()
	UNION ALL SELECT 3, name FROM system.databases
	UNION ALL SELECT 4, concat(database, '.', name) FROM system.tables WHERE NOT startsWith(name, '.')
	UNION ALL SELECT 5, name FROM system.functions
	UNION ALL SELECT 6, keyword FROM system.keywords WHERE NOT match(keyword, ' ')
	UNION ALL SELECT 7, name FROM system.formats WHERE is_output)
GROUP BY name ORDER BY min(place), name`

// complete returns the text before the word at `pos`, the names that begin with the word, and the text after `pos`.
func (w *completion) complete(ctx context.Context, text string, pos int) (head string, names []string, tail string) {
	runes := []rune(text)
	before, tail := string(runes[:pos]), string(runes[pos:])
	begin := strings.LastIndexFunc(before, func(r rune) bool { return !wordRune(r) }) + 1
	head, word := before[:begin], before[begin:]
	if w.names == nil {
		w.load(ctx)
	}
	return head, w.matches(word), tail
}

// matches returns the names that begin with `word`, in any case. After "t.", where t is for example an alias of a
// table, it compares only the text after the dot.
func (w *completion) matches(word string) (found []string) {
	if word == "" {
		return nil
	}
	prefix := ""
	if at := strings.LastIndexByte(word, '.'); at >= 0 && !slices.ContainsFunc(w.names, func(n string) bool { return hasPrefix(n, word) }) {
		prefix, word = word[:at+1], word[at+1:] // an alias of a table and its column
	}
	for _, name := range w.names {
		if hasPrefix(name, word) {
			found = append(found, prefix+name)
		}
	}
	return found
}

func (w *completion) load(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, completionTime)
	defer cancel()
	rows, err := w.console.rows(ctx, completionNames)
	if err != nil {
		return // the next Tab tries again
	}
	for _, row := range rows {
		w.names = append(w.names, row[0])
	}
}

// forget discards the names if the statements in `text` may have changed them.
func (w *completion) forget(text string) {
	for _, verb := range []string{"CREATE", "DROP", "ALTER", "RENAME", "USE"} {
		if strings.Contains(strings.ToUpper(text), verb) {
			w.names = nil
		}
	}
}

func hasPrefix(name, word string) bool {
	return len(name) >= len(word) && strings.EqualFold(name[:len(word)], word)
}

func wordRune(r rune) bool {
	return r == '_' || r == '.' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
}
