package render

import "github.com/sessctl/sessctl/internal/document"

// Command is a command to type, with the reason.
type Command = document.Command
