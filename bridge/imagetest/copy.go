// Imagetest runs the COPY lines of a Dockerfile with the code that BuildKit
// copies with.  Other builders agree with it on most lines, but not where a
// destination is a symbolic link or passes through one.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/moby/buildkit/frontend/dockerfile/instructions"
	"github.com/moby/buildkit/frontend/dockerfile/parser"
	fs "github.com/tonistiigi/fsutil/copy"
)

// copyLine is a line COPY --from=stage sources... destination.
type copyLine struct {
	text        string
	stage       string
	sources     []string
	destination string
}

// readCopyLines returns the lines COPY --from of stage target.  Options and
// variables are refused, because run would not do what BuildKit does.
func readCopyLines(dockerfile io.Reader, target string) ([]copyLine, error) {
	tree, err := parser.Parse(dockerfile)
	if err != nil {
		return nil, fmt.Errorf("parse the Dockerfile: %w", err)
	}
	stages, _, err := instructions.Parse(tree.AST, nil)
	if err != nil {
		return nil, fmt.Errorf("parse the instructions: %w", err)
	}
	index, found := instructions.HasStage(stages, target)
	if !found {
		return nil, fmt.Errorf("there is no stage %q", target)
	}
	var lines []copyLine
	for _, command := range stages[index].Commands {
		command, ok := command.(*instructions.CopyCommand)
		if !ok || command.From == "" {
			continue
		}
		line := copyLine{
			text:        command.String(),
			stage:       command.From,
			sources:     command.SourcePaths,
			destination: command.DestPath,
		}
		switch {
		case command.Chown != "" || command.Chmod != "" || command.Link || command.Parents ||
			len(command.ExcludePatterns) > 0:
			err = errors.New("has an option that is not known here")
		case len(command.SourceContents) > 0:
			err = errors.New("has a document in it")
		case strings.Contains(line.text, "$"):
			err = errors.New("has a variable")
		case !filepath.IsAbs(line.destination):
			err = errors.New("has a relative destination")
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", line.text, err)
		}
		lines = append(lines, line)
	}
	if len(lines) == 0 {
		return nil, fmt.Errorf("stage %q copies nothing from another", target)
	}
	return lines, nil
}

// run copies from root stageRoot to root imageRoot, with the options that
// BuildKit's front end gives a COPY.
func (l copyLine) run(ctx context.Context, stageRoot, imageRoot string) error {
	for _, source := range l.sources {
		matches, err := fs.ResolveWildcards(stageRoot, absolute(source), true)
		if err != nil {
			return fmt.Errorf("%s: find %s: %w", l.text, source, err)
		}
		if len(matches) == 0 {
			// BuildKit lets this pass, but a line that copies nothing is a mistake.
			return fmt.Errorf("%s: nothing matches %s", l.text, source)
		}
		for _, match := range matches {
			if err := fs.Copy(ctx, stageRoot, match, imageRoot, absolute(l.destination),
				asBuildKit, fs.AllowXAttrErrors); err != nil {
				return fmt.Errorf("%s: %w", l.text, err)
			}
		}
	}
	return nil
}

func asBuildKit(info *fs.CopyInfo) {
	info.FollowLinks = true
	info.CopyDirContents = true
	info.Chown = func(owner *fs.User) (*fs.User, error) { return owner, nil }
}

// absolute returns path as counted from the root.  A slash at its end says that
// a directory is meant, and stays.
func absolute(path string) string {
	clean := filepath.Join("/", path)
	if strings.HasSuffix(path, "/") && clean != "/" {
		clean += "/"
	}
	return clean
}
