package console

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"strings"

	"vayu/internal/columnstore/embedded"
)

var (
	useDatabase = regexp.MustCompile("(?is)^USE\\s+(?:DATABASE\\s+)?[`\"]?(\\w+)[`\"]?$")
	setOne      = regexp.MustCompile(`(?s)^\s*(\w+)\s*=\s*('(?:[^'\\]|\\.|'')*'|[^\s,']+)\s*(,|$)`)
	escaped     = regexp.MustCompile(`(?s)\\(.)|'(')`)
)

// session executes USE and SET; for other statements, `done` is false. Each statement is a request of its own, and the
// server keeps nothing between requests. So the console keeps the database and the settings, and sends them with later
// statements. A request with SELECT 1 only checks whether the server accepts them.
func (c *Console) session(ctx context.Context, s embedded.Statement) (done bool, err error) {
	text := strings.TrimSpace(s.Text)
	before, database := maps.Clone(c.settings), c.Database
	switch s.Verb {
	case "USE":
		m := useDatabase.FindStringSubmatch(text)
		if m == nil {
			return false, nil
		}
		c.Database = m[1]
	case "SET":
		for rest := text[len("SET"):]; rest != ""; {
			m := setOne.FindStringSubmatch(rest)
			if m == nil {
				return true, fmt.Errorf("SET needs name = value, not %q", strings.TrimSpace(rest))
			}
			value := m[2]
			if value[0] == '\'' {
				value = escaped.ReplaceAllString(value[1:len(value)-1], "$1$2")
			}
			c.settings.Set(m[1], value)
			rest = rest[len(m[0]):]
		}
		if c.settings.Get("readonly") != "" && !c.Write {
			c.settings = before
			return true, fmt.Errorf("readonly cannot be set%s", needsWrite)
		}
	default:
		return false, nil
	}
	if _, err := c.rows(ctx, "SELECT 1"); err != nil {
		c.settings, c.Database = before, database
		return true, err
	}
	return true, nil
}
