package httpconnector

import (
	"vayu/pipeline/httpconnector/answer"
)

// Shape is what the caller requires and permits in a description: the calls, the fields of each
// call, and the fields of answers and callbacks.
type Shape struct {
	Calls map[string]CallShape
	// Callback is the content of callbacks; nil if there are none.
	Callback answer.Shape
}

// CallShape defines one call.
type CallShape struct {
	Required bool     // every description must have it
	Fields   []string // usable in templates
	// Identifiers are the fields that identify the subject, such as an order. Each request holds
	// at least one that is not empty. Nil if a call has no subject.
	Identifiers []string
	Answer      answer.Shape
	List        bool // the answer is a list of items, and Answer has the fields of an item
	// Separate puts the call into a second lane, with other slots and another breaker. It is for
	// calls of low priority, which then cannot block the others.
	Separate bool
}
