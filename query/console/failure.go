package console

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
)

var (
	codes    = regexp.MustCompile(`^(?:Code: \d+\. )?(?:DB::Exception: )?`)
	versions = regexp.MustCompile(`(?s)\s*\(version [^)]*(?:\([^)]*\))?\)\s*$`)
	names    = regexp.MustCompile(`\s*\(([A-Z][A-Z0-9_]+)\)$`)
	scopes   = regexp.MustCompile(`(?s)[.:]?\s+[Ii]n scope .*?(\. Maybe you meant|$)`)
	expected = regexp.MustCompile(`(?s)\. Expected one of: .{60,}$`)
	detail   = regexp.MustCompile(`(?s): (?:while executing|While executing|\(in query:|while processing) .*$`)
	traces   = regexp.MustCompile(`(?s)\s*(?:, )?Stack trace.*$`)
	unknown  = regexp.MustCompile("unknown column or function `([^`]*)`$")
	meant    = regexp.MustCompile(`[.:]* Maybe you meant:? \[?(.*?)\]?\??\.?$`)
)

// plain replaces terms in ClickHouse's error messages by simpler ones.
var plain = strings.NewReplacer(
	"Unknown expression or function identifier", "unknown column or function",
	"Unknown table expression identifier", "unknown table", "Unknown expression identifier", "unknown column",
	"Substitution `", "parameter `", " (end of query): ", " (the end of the query)",
	"Not enough privileges: ", "", " for this user. Analysts read; changes need the user default", " for analysts",
)

// failure returns an error with the message and the suggestion of ClickHouse, but without code, scope, version and
// stack.
func (c *Console) failure(text string) error {
	message, name := readFailure(text)
	return c.advised(message, name)
}

// readFailure returns the message of an error of ClickHouse, and the name of its code; "" for no code.
func readFailure(text string) (message, code string) {
	text = marks.ReplaceAllString(traces.ReplaceAllString(strings.TrimSpace(text), ""), "")
	text = versions.ReplaceAllString(text, "")
	name := names.FindStringSubmatch(text)
	text = names.ReplaceAllString(text, "")
	for short := codes.ReplaceAllString(text, ""); short != text; short = codes.ReplaceAllString(text, "") {
		text = short
	}
	text = strings.TrimSuffix(text, ".")
	text = detail.ReplaceAllString(text, "")
	text = scopes.ReplaceAllString(text, "$1")
	text = expected.ReplaceAllString(text, "")
	text = strings.TrimPrefix(strings.TrimPrefix(text, "default: "), "analyst: ")
	if at := meant.FindStringSubmatchIndex(text); at != nil {
		names := strings.NewReplacer("'", "", ",", ", ").Replace(text[at[2]:at[3]])
		text = text[:at[0]] + "; did you mean " + names + "?"
	}
	if len(name) > 1 {
		code = name[1]
	}
	return strings.TrimRight(plain.Replace(strings.TrimSuffix(text, ":")), ": "), code
}

// advised returns an error with the message `text` and the remedies for its code.
func (c *Console) advised(text, code string) error {
	if text == "" {
		return errors.New("ClickHouse has failed without a message")
	}
	if m := unknown.FindStringSubmatch(text); m != nil {
		text += fmt.Sprintf("; a text needs single quotes: '%s'", m[1])
	}
	text += advice[code]
	if !c.Write {
		text += writing[code]
	}
	return fmt.Errorf("ClickHouse: %s", strings.TrimSpace(text)) //nolint:perfsprint // the same form as elsewhere
}

// advice has remedies, by code, for errors of ClickHouse whose messages propose none.
var advice = map[string]string{
	"UNKNOWN_QUERY_PARAMETER": "; set it with --param name=value",
	"TIMEOUT_EXCEEDED":        "; select fewer rows, such as a shorter time",
	"MEMORY_LIMIT_EXCEEDED":   "; select fewer rows or columns, or group by fewer keys",
	"TOO_MANY_ROWS":           "; select fewer rows, such as a shorter time",
	"TOO_MANY_ROWS_OR_BYTES":  "; select fewer rows, such as a shorter time",
}

// writing has the remedies of a console without the option Write, by the code of the error. Such a console has the
// rights and the limits of analysts, and --write removes them.
var writing = map[string]string{
	"READONLY":                     needsWrite,
	"ACCESS_DENIED":                "; --write runs it as the administrator",
	"TIMEOUT_EXCEEDED":             withoutLimits,
	"MEMORY_LIMIT_EXCEEDED":        withoutLimits,
	"TOO_MANY_ROWS":                withoutLimits,
	"TOO_MANY_ROWS_OR_BYTES":       withoutLimits,
	"SETTING_CONSTRAINT_VIOLATION": "; --write has no limits",
}

const (
	needsWrite    = "; statements that change something need --write"
	withoutLimits = ", or add --write, which has no limits of analysts"
)

// body reads a result. ClickHouse reports an error after the first bytes as a block at the end of the result. The block
// begins with a line "__exception__" and the tag of the reply. body returns the block as an error.
type body struct {
	ctx    context.Context
	reader io.Reader
	mark   []byte // beginning of the block; empty if the server has no such blocks
	held   []byte // the last bytes read, if they may be the beginning of `mark`
	fail   func(text string) error
	err    error
}

func (c *Console) body(ctx context.Context, reply *http.Response) *body {
	b := &body{ctx: ctx, reader: reply.Body, fail: c.failure}
	if tag := reply.Header.Get("X-ClickHouse-Exception-Tag"); tag != "" {
		b.mark = []byte("\r\n__exception__\r\n" + tag)
	}
	return b
}

// Read reads into p, which must be longer than an exception block's first two lines.
func (b *body) Read(p []byte) (int, error) {
	for b.err == nil {
		size := copy(p, b.held)
		n, err := b.reader.Read(p[size:])
		b.err, b.held = err, b.held[:0]
		size += n
		if at := bytes.Index(p[:size], b.mark); at >= 0 && len(b.mark) > 0 {
			block, _ := io.ReadAll(io.MultiReader(bytes.NewReader(bytes.Clone(p[at:size])), io.LimitReader(b.reader, maxRefusal)))
			b.err = b.fail(blockText(block[len(b.mark):]))
			size = at
		} else if err == nil {
			keep := partial(p[:size], b.mark)
			b.held = append(b.held, p[size-keep:size]...)
			size -= keep
		} else if !errors.Is(err, io.EOF) {
			b.err = fmt.Errorf("reading the result: %w", unwrapURL(b.ctx, err))
		}
		if size > 0 {
			return size, nil
		}
	}
	return 0, b.err
}

// partial returns the length of the longest suffix of `data` that is a prefix of `mark`.
func partial(data, mark []byte) int {
	for n := min(len(data), len(mark)-1); n > 0; n-- {
		if bytes.HasPrefix(mark, data[len(data)-n:]) {
			return n
		}
	}
	return 0
}

// blockText returns the message of an exception block. It cuts the lines that follow: length and tag, and the end mark.
func blockText(block []byte) string {
	text := strings.TrimSpace(string(block))
	if at := strings.LastIndex(text, "\r\n__exception__"); at >= 0 {
		text = text[:at]
	}
	if at := strings.LastIndex(text, "\n"); at >= 0 {
		text = text[:at]
	}
	return text
}
