package tracing

// ValidTraceparent reports whether a text has the form of a result of Traceparent.
func ValidTraceparent(parent string) bool { return parse(parent).IsValid() }
