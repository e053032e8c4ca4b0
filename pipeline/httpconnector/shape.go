package httpconnector

import (
	"maps"
	"slices"
)

// Shape is the caller's definition of a description: its calls, their fields and the fields of
// answers.
type Shape struct {
	Calls map[string]CallShape
	// Callback is the content of callbacks; nil if there are none.
	Callback AnswerShape
}

// CallShape defines one call.
type CallShape struct {
	Required bool     // every description must have it
	Fields   []string // usable in templates
	// Identifiers are the fields that identify the subject. Each request holds at least one
	// that is not empty. Nil if a call has no subject.
	Identifiers []string
	Answer      AnswerShape
	List        bool // the answer is a list of items with Answer
	// Separate gives the call a lane of its own, with slots and a breaker. It is for calls of
	// low priority, which then cannot block the others.
	Separate bool
}

// AnswerShape is the fields of an answer, by name.
type AnswerShape map[string]FieldShape

// FieldShape defines a field of an answer.
type FieldShape struct {
	// Required makes an answer without the field unreadable.
	Required bool
	// PathRequired makes the description name the path, though answers may lack the field.
	PathRequired bool
	// Values are the targets of the provider's values; nil for any text.
	Values []string
	// Defaults are those of Values that an unmapped value may default to.
	Defaults []string
	// RequiredWith makes the field required in answers in which another field has a value, by
	// the names of those fields.
	RequiredWith map[string]string
	// Absent are those of Values that the description may assign to answers without the field.
	// The path is optional then.
	Absent []string
	// Repeated allows several values: a list of single values, or one. They are in
	// [Reply.Lists].
	Repeated bool
	// Fallback replaces every unmapped value of a Repeated field.
	Fallback string
}

func namesOf[T any](m map[string]T) []string { return slices.Sorted(maps.Keys(m)) }
