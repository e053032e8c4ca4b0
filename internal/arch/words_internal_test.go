package arch

import (
	"fmt"
	"go/ast"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strings"
)

// forbiddenWords are words that docs/glossary.md replaces by a term of the field. They
// are in no comment, text or identifier.
var forbiddenWords = []string{
	"anew", "asked", "baker", "basket", "buried", "bury", "deceased", "errand", "he", "heard", "him", "his", "hungry",
	"lender", "nobody", "owed", "said", "seat", "somebody", "tally", "told", "verdict", "whoever",
}

// columnWords are also names of columns, so SQL texts may have them.
var columnWords = []string{"asked", "told"}

// forbiddenPhrases are forbidden terms of more than one word.
var forbiddenPhrases = []string{"twice changes nothing", "whose turn"}

// identifierWord is a part of an identifier in camel case.
var identifierWord = regexp.MustCompile(`[A-Z]?[a-z]+|[A-Z]+`)

// proseWord is a word of a comment or text; identifiers in it do not count.
var proseWord = regexp.MustCompile(`\b[A-Z]?[a-z]+\b`)

// textSuffixes are the suffixes of the files other than Go whose every word is checked.
var textSuffixes = []string{".css", ".html", ".md", ".sql", ".ts", ".tsx", ".yaml", ".yml"}

// quoting are the files that may have forbidden words: the glossary lists them, and the text of an applied
// migration cannot change.
var quoting = []string{"docs/glossary.md", "schema/migrations/"}

// checkTextWords reports the first forbidden word of each line of a file that is not Go.
func checkTextWords(name, text string, faults *[]Fault) {
	exempt := func(prefix string) bool { return strings.HasPrefix(name, prefix) }
	if !slices.Contains(textSuffixes, path.Ext(name)) || slices.ContainsFunc(quoting, exempt) {
		return
	}
	at := 0
	for line := range strings.Lines(text) {
		at++
		words := proseWord.FindAllString(line, -1)
		if i := slices.IndexFunc(words, isForbidden); i >= 0 {
			*faults = append(*faults, Fault{name, at, fmt.Sprintf("has the word %q: use the term of docs/glossary.md", words[i])})
		}
	}
}

// checkWords reports the forbidden words. Of the strings it checks only those with a space, because others
// may be keys, names or values.
func (f *file) checkWords() {
	if path.Dir(f.path) == "internal/arch" {
		return
	}
	for _, group := range f.tree.Comments {
		for _, comment := range group.List {
			f.checkProse(comment.Pos(), comment.Text, nil)
		}
	}
	ast.Inspect(f.tree, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.BasicLit:
			if n.Kind == token.STRING && strings.Contains(n.Value, " ") {
				f.checkProse(n.Pos(), n.Value, columnWords)
			}
		case *ast.Ident:
			for _, part := range identifierWord.FindAllString(n.Name, -1) {
				if isForbidden(part) {
					f.faultf(n.Pos(), "the identifier %s has the word %q: use the term of docs/glossary.md", n.Name, part)
					break
				}
			}
		}
		return true
	})
}

// checkProse reports the forbidden words in a comment or text, except the allowed ones.
func (f *file) checkProse(at token.Pos, text string, allowed []string) {
	for _, word := range proseWord.FindAllString(text, -1) {
		if isForbidden(word) && !slices.Contains(allowed, word) {
			f.faultf(at, "has the word %q: use the term of docs/glossary.md", word)
			return
		}
	}
	for _, phrase := range forbiddenPhrases {
		if strings.Contains(strings.ToLower(text), phrase) {
			f.faultf(at, "has %q: use the term of docs/glossary.md", phrase)
		}
	}
}

func isForbidden(word string) bool {
	word = strings.ToLower(word)
	return forbiddenSet[word] || forbiddenSet[strings.TrimSuffix(word, "s")]
}

// forbiddenSet is forbiddenWords as a set.
var forbiddenSet = func() map[string]bool {
	set := map[string]bool{}
	for _, word := range forbiddenWords {
		set[word] = true
	}
	return set
}()
