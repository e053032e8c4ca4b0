package embedded

import "strings"

// tokenKind is the kind of a token, as far as necessary to find where a statement's data begins.
type tokenKind int

const (
	tokenEnd    tokenKind = iota
	tokenWord             // a bare identifier or keyword
	tokenQuoted           // 'string', "name", `name` or $tag$heredoc$tag$
	tokenOther            // a number or one character of punctuation
)

type token struct {
	kind       tokenKind
	start, end int // byte offsets in the text
}

// scanner splits SQL into tokens and skips comments, as ClickHouse's lexer does.
type scanner struct {
	text string
	pos  int
}

func (s *scanner) next() token {
	s.skip()
	start := s.pos
	if start >= len(s.text) {
		return token{kind: tokenEnd, start: start, end: start}
	}
	switch c := s.text[start]; {
	case c == '\'' || c == '"' || c == '`':
		s.quoted(c)
		return token{tokenQuoted, start, s.pos}
	case c == '$' && s.heredoc():
		return token{tokenQuoted, start, s.pos}
	case wordStart(c):
		for s.pos < len(s.text) && (wordStart(s.text[s.pos]) || digit(s.text[s.pos])) {
			s.pos++
		}
		return token{tokenWord, start, s.pos}
	case digit(c):
		for s.pos < len(s.text) && (wordStart(s.text[s.pos]) || digit(s.text[s.pos]) || s.text[s.pos] == '.') {
			s.pos++
		}
		return token{tokenOther, start, s.pos}
	default:
		s.pos++
		return token{tokenOther, start, s.pos}
	}
}

// word returns the text of a tokenWord in upper case, and "" for any other token.
func (s *scanner) word(t token) string {
	if t.kind != tokenWord {
		return ""
	}
	return strings.ToUpper(s.text[t.start:t.end])
}

// skip moves past blanks and comments: "-- …", "# …", "#! …", "/* … */".
func (s *scanner) skip() {
	for s.pos < len(s.text) {
		rest := s.text[s.pos:]
		switch {
		case strings.IndexByte(" \t\r\n\f\v\x00", rest[0]) >= 0:
			s.pos++
		case strings.HasPrefix(rest, "\u00a0"):
			s.pos += len("\u00a0")
		case strings.HasPrefix(rest, "\ufeff"):
			s.pos += len("\ufeff")
		case strings.HasPrefix(rest, "--"), strings.HasPrefix(rest, "# "), strings.HasPrefix(rest, "#!"):
			s.past("\n", 2)
		case strings.HasPrefix(rest, "/*"):
			s.past("*/", 2)
		default:
			return
		}
	}
}

// past moves behind the first mark that is at least offset bytes ahead, or to the end if there is none.
func (s *scanner) past(mark string, offset int) {
	i := strings.Index(s.text[s.pos+offset:], mark)
	if i < 0 {
		s.pos = len(s.text)
		return
	}
	s.pos += offset + i + len(mark)
}

// quoted moves past a quoted token, with backslash escapes, and doubled quotes for quotes.
func (s *scanner) quoted(quote byte) {
	for s.pos++; s.pos < len(s.text); s.pos++ {
		switch s.text[s.pos] {
		case '\\':
			s.pos++
		case quote:
			if s.pos+1 < len(s.text) && s.text[s.pos+1] == quote {
				s.pos++
				continue
			}
			s.pos++
			return
		}
	}
	s.pos = min(s.pos, len(s.text))
}

// heredoc moves past a heredoc, $tag$ … $tag$, and returns true. If none begins here, it returns false.
func (s *scanner) heredoc() bool {
	rest := s.text[s.pos:]
	end := strings.IndexByte(rest[1:], '$')
	if end < 0 {
		return false
	}
	tag := rest[:end+2]
	for _, c := range []byte(tag[1 : len(tag)-1]) {
		if !wordStart(c) && !digit(c) {
			return false
		}
	}
	if !strings.Contains(rest[len(tag):], tag) {
		return false
	}
	s.past(tag, len(tag))
	return true
}

func wordStart(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

func digit(c byte) bool { return c >= '0' && c <= '9' }
