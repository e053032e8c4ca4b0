package statement

import "strings"

// Setting is the name and value of a ClickHouse setting.
type Setting struct{ Name, Value string }

// Set returns the SET statement for the settings, or "" if there are no settings.
func Set(settings []Setting) string {
	if len(settings) == 0 {
		return ""
	}
	set := make([]string, len(settings))
	for i, s := range settings {
		set[i] = QuoteName(s.Name) + " = " + Quote(s.Value)
	}
	return "SET " + strings.Join(set, ", ")
}

// Settings returns the settings of a statement SET name = value, … `ok` is false for any other form, such as SET ROLE.
func (st Statement) Settings() (all []Setting, ok bool) {
	s := Scan(st.Text)
	if s.Word(s.Next()) != "SET" {
		return nil, false
	}
	for {
		name, named := s.Identifier(s.Next())
		if !named || s.Text(s.Next()) != "=" {
			return nil, false
		}
		value, next, ok := s.literal()
		if !ok {
			return nil, false
		}
		all = append(all, Setting{name, value})
		switch {
		case next.Kind == End, s.Text(next) == ";" && s.Next().Kind == End:
			return all, true
		case s.Text(next) != ",":
			return nil, false
		}
	}
}

// Literal returns the string, number or word that follows, without moving the scanner. `ok` is false for other text.
func (s *Scanner) Literal() (value string, ok bool) {
	ahead := *s
	value, _, ok = ahead.literal()
	return value, ok
}

// literal reads a string, a number or a word. `next` is the token after it.
func (s *Scanner) literal() (value string, next Token, ok bool) {
	t := s.Next()
	sign := ""
	if text := s.Text(t); t.Kind == Other && (text == "-" || text == "+") {
		sign, t = text, s.Next()
	}
	text := s.Text(t)
	switch {
	case t.Kind == Quoted && text[0] == '\'' && sign == "":
		value, ok = unquote(text)
	case t.Kind == Word, t.Kind == Other && digit(text[0]):
		value, ok = sign+text, true
	}
	return value, s.Next(), ok
}

// unquote returns the value of a string literal. `ok` is false for escapes other than those of quotes and backslashes.
func unquote(text string) (value string, ok bool) {
	if len(text) < 2 || text[len(text)-1] != '\'' {
		return "", false
	}
	var b strings.Builder
	for i := 1; i < len(text)-1; i++ {
		c := text[i]
		if c == '\\' || c == '\'' {
			i++
			if i == len(text)-1 || text[i] != '\'' && (c != '\\' || text[i] != '\\') {
				return "", false
			}
		}
		b.WriteByte(text[i])
	}
	return b.String(), true
}

// Database returns the database that a USE statement names. `ok` is false for any other statement.
func (st Statement) Database() (name string, ok bool) {
	s := Scan(st.Text)
	if s.Word(s.Next()) != "USE" {
		return "", false
	}
	t := s.Next()
	if s.Word(t) == "DATABASE" {
		t = s.Next()
	}
	name, ok = s.Identifier(t)
	end := s.Next()
	if s.Text(end) == ";" {
		end = s.Next()
	}
	return name, ok && end.Kind == End
}

// Temporary reports whether the statement creates or drops a temporary table.
func (st Statement) Temporary() bool {
	s := Scan(st.Text)
	s.Next()
	t := s.Next()
	if s.Word(t) == "OR" {
		s.Next()
		t = s.Next()
	}
	return s.Word(t) == "TEMPORARY"
}
