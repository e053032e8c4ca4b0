package httpconnector

import (
	"maps"
	"slices"
)

// Shape is what the user of a description needs of it: which calls there are, what
// may be said in them and what is wanted of the answers.
type Shape struct {
	Calls map[string]CallShape
	// Callback is what requests to us tell; nil when there are none.
	Callback AnswerShape
}

// CallShape is what one call is about.
type CallShape struct {
	Needed bool     // every description has it
	Fields []string // that its templates may name
	// Names are those of Fields of which a request holds at least one that is not empty:
	// what it is about. Nil when it is about nothing.
	Names  []string
	Answer AnswerShape
	List   bool // the answer is a list, and Answer is what each item holds
	// Aside says that the call is not worth waiting for it: it has a room and a breaker
	// that the others do not share, so that it neither fills theirs nor closes it to them.
	Aside bool
}

// AnswerShape is the fields of an answer, by name.
type AnswerShape map[string]FieldShape

// FieldShape is what a field of an answer may be.
type FieldShape struct {
	// Needed says that an answer without it is not understood.
	Needed bool
	// Stated says that the description says where it stands, though answers may lack it.
	Stated bool
	// Values are what the upstream's words must be mapped to; nil for any text.
	Values []string
	// Defaults are those of Values that a word which is not mapped may stand for.
	Defaults []string
	// NeededWith are values of other fields, by their names: an answer that has one of
	// them is not understood without this field.
	NeededWith map[string]string
	// Absent are those of Values of which the description may say that an answer without
	// the field means it. It needs to say no place then.
	Absent []string
	// Many says that there may be several: a list of single values, or one. They stand in
	// [Reply.Lists].
	Many bool
	// Rest is what a word of Many stands for that is not mapped, whatever it is.
	Rest string
}

func namesOf[T any](m map[string]T) []string { return slices.Sorted(maps.Keys(m)) }
