package access

import (
	"fmt"
	"strconv"
	"strings"

	"vayu/internal/columnstore/embedded/chdb"
	"vayu/schema/statement"
)

// tableFunctions are the table functions that analysts may use. These functions compute their rows, or read only tables
// that the user may read.
var tableFunctions = []string{
	"numbers", "numbers_mt", "zeros", "zeros_mt", "primes", "generateSeries", "generate_series", "values", "SQLStandardValues", "null",
	"view", "viewIfPermitted", "viewExplain", "merge", "format", "input",
}

// functions are the functions that analysts must not use. They read files or use the network, but the engine requires
// no privilege for them. A query can also name a function without parentheses, as in APPLY(file).
var functions = []string{
	"file", "catboostEvaluate", "showCertificate", "getServerSetting", "generateSerialID", "logTrace", "aiClassify", "aiEmbed", "aiExtract",
	"aiFilter", "aiGenerate", "aiRedact", "aiSimilarity", "aiTranslate",
}

// Guard decides which statements of analysts reach the engine. The zero value refuses no table function.
type Guard struct {
	refused map[string]bool    // names in lower case; true for a name that is refused even without parentheses
	limits  map[string]float64 // largest value of a setting; 0 for a setting that analysts cannot change
}

// NewGuard returns a Guard with the limits of l. The parameter `all` has the names of the engine's table functions.
func NewGuard(all []string, l Limits) Guard {
	g := Guard{refused: map[string]bool{}, limits: map[string]float64{}}
	for _, b := range locked {
		g.limits[b.name] = 0
	}
	for _, b := range l.bounds() {
		g.limits[b.name], _ = strconv.ParseFloat(b.value, 64) // bounds are numbers
	}
	for _, name := range all {
		g.refused[strings.ToLower(name)] = false
	}
	for _, name := range tableFunctions {
		delete(g.refused, strings.ToLower(name))
	}
	for _, name := range functions {
		g.refused[strings.ToLower(name)] = true
	}
	return g
}

// Check returns the statement in a form that the engine may run for an analyst. For a refused statement, the error is
// an exception like those of the engine. Check composes a SET or USE from its parsed parts, because the engine does not
// check the rights of all forms of SET. `values` is the data of an INSERT in the format Values, whose expressions the
// engine evaluates. The function `analyse` classifies a text with the engine's parser, or returns the syntax error.
func (g Guard) Check(st statement.Statement, values string, analyse func(text string) (chdb.Analysis, error)) (string, error) {
	for _, text := range []string{st.Text, values} {
		if err := g.names(text); err != nil {
			return "", err
		}
	}
	if err := g.settings(st.Text); err != nil {
		return "", err
	}
	switch st.Verb {
	case "SET":
		settings, ok := st.Settings()
		if !ok {
			return "", denied("SET takes settings with literal values only")
		}
		return SetStatement(settings)
	case "USE":
		name, ok := st.Database()
		if !ok {
			return "", denied("USE takes the name of a database")
		}
		return "USE " + statement.QuoteName(name), nil
	}
	text := st.Text
	if st.Data >= 0 { // the text lacks the data, and such an INSERT parses only with a FORMAT clause
		text += " FORMAT TSV"
	}
	a, err := analyse(text)
	if err != nil {
		return "", err
	}
	temporary := (st.Verb == "CREATE" || st.Verb == "DROP") && st.Temporary()
	switch {
	case a.Statements > 1:
		return "", denied("one statement at a time")
	case a.Statements == 0:
		return "", denied("the engine cannot classify the statement")
	case a.Class == chdb.ReadOnly, a.Class == chdb.Mutating && st.Verb == "INSERT", temporary:
		return st.Text, nil // the engine checks the rights
	}
	return "", denied(fmt.Sprintf("%s is not allowed for this user", st.Verb))
}

// names refuses a text with a refused function, INFILE, OUTFILE, a change of the profile, or unusual characters.
func (g Guard) names(text string) error {
	s := statement.Scan(text)
	previous, alone := "", false // name of the token before t, and whether it is refused without parentheses
	for t := s.Next(); ; t = s.Next() {
		if _, refused := g.refused[previous]; refused && (alone || t.Kind == statement.Other && s.Text(t) == "(") {
			return denied("the function " + previous + " is not allowed for this user")
		}
		if t.Kind == statement.End {
			return nil
		}
		if s.Odd(t) {
			return denied(fmt.Sprintf("%q outside of quotes is not allowed for this user", s.Text(t)))
		}
		name, identifier := s.Identifier(t)
		if t.Kind == statement.Other {
			name = afterNumber(s.Text(t))
		}
		if quote := s.Text(t)[0]; !identifier && t.Kind == statement.Quoted && (quote == '`' || quote == '"') {
			return denied("a name with a quote or a backslash is not allowed for this user")
		}
		if previous == "profile" && s.Text(t) == "=" {
			return errProfile
		}
		if word := s.Word(t); word == "INFILE" || word == "OUTFILE" {
			return denied(word + " is not allowed for this user: the answer of the HTTP interface is the result")
		}
		previous = strings.ToLower(name)
		alone = g.refused[previous]
	}
}

// afterNumber returns the word at the end of a token that begins with a digit. The engine splits such a token, for
// example "1.file", into a number and a word. That word can name a refused function.
func afterNumber(text string) string {
	if i := strings.LastIndexByte(text, '.'); i >= 0 {
		text = text[i+1:]
	}
	return strings.TrimLeft(text, "0123456789_")
}

// settings refuses a text with a SETTINGS clause that exceeds a limit. The engine itself checks only the clause of the
// outermost query, and accepts DEFAULT for every setting.
func (g Guard) settings(text string) error {
	s := statement.Scan(text)
	clause, name := false, "" // whether a clause has begun, and the name before t
	for t := s.Next(); t.Kind != statement.End; t = s.Next() {
		clause = clause || s.Word(t) == "SETTINGS"
		if clause && s.Text(t) == "=" {
			value, literal := s.Literal()
			if !g.within(name, value) || literal && strings.EqualFold(value, "DEFAULT") {
				return &chdb.Exception{
					Code: codeSettingConstraint, Name: "SETTING_CONSTRAINT_VIOLATION",
					Message: fmt.Sprintf("Setting %s shouldn't be %q: it is limited for this user", name, value),
				}
			}
		}
		name, _ = s.Identifier(t)
	}
	return nil
}

// within reports whether a setting's value is above 0 and at most its limit. Without a limit, every value is allowed.
func (g Guard) within(name, value string) bool {
	limit, limited := g.limits[name]
	number, err := strconv.ParseFloat(value, 64)
	return !limited || err == nil && number > 0 && number <= limit
}

// SetStatement returns the SET for settings of an analyst, or errProfile. The engine checks all other limits.
func SetStatement(settings []statement.Setting) (string, error) {
	for _, s := range settings {
		if strings.EqualFold(s.Name, "profile") {
			return "", errProfile
		}
	}
	return statement.Set(settings), nil
}

// errProfile is the error of a statement that changes the settings profile. No constraint of the engine forbids that.
var errProfile = denied("the settings profile is fixed for this user")

// Codes of ClickHouse's src/Common/ErrorCodes.cpp.
const (
	codeSettingConstraint = 452
	codeAccessDenied      = 497
)

func denied(reason string) *chdb.Exception {
	return &chdb.Exception{Code: codeAccessDenied, Name: "ACCESS_DENIED", Message: string(Analyst) + ": Not enough privileges: " + reason + ". Analysts read; changes need the user " + string(Admin)}
}
