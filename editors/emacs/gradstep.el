(require 'dap-mode)

(dap-register-debug-provider
 "gradstep"
 (lambda (conf)
   (dap--put-if-absent conf :dap-server-path '("gradstep" "dap"))
   (dap--put-if-absent conf :program buffer-file-name)
   (dap--put-if-absent conf :cwd default-directory)
   conf))

(dap-register-debug-template
 "backward()"
 '(:type "gradstep" :request "launch" :name "backward()"))

(defun gradstep-step-back (session)
  "Undo the last node of the backward pass."
  (interactive (list (dap--cur-session-or-die)))
  (dap--step "stepBack" session))
