(require 'dap-mode)

(dap-register-debug-provider
 "gradstep"
 (lambda (conf)
   (if (plist-get conf :debugServer)
       (unless (plist-get conf :secret)
         (setq conf (plist-put conf :secret (read-passwd "secret: "))))
     (dap--put-if-absent conf :dap-server-path '("gradstep" "dap")))
   (dap--put-if-absent conf :program buffer-file-name)
   (dap--put-if-absent conf :cwd default-directory)
   conf))

(dap-register-debug-template
 "backward()"
 '(:type "gradstep" :request "launch" :name "backward()"))

;; Over a port: gradstep dap --port 4711
(dap-register-debug-template
 "backward() over a port"
 '(:type "gradstep" :request "launch" :name "backward() over a port"
   :host "127.0.0.1" :debugServer 4711))

(defun gradstep-step-back (session)
  "Undo the last node of the backward pass."
  (interactive (list (dap--cur-session-or-die)))
  (dap--step "stepBack" session))
